import type { ArcError } from '#shared/base/errors';
import { badRequest } from '../errors/api-errors.ts';

/** The start of the next page of a list. `revision` -1: the newest, because the old one was compacted. */
export interface Continuation {
  revision: number;
  /** The first key of the page, below the list's prefix. */
  start: string;
}

/** @param start a key under `prefix`; the token holds the rest of it, in the format of storage.EncodeContinue of k8s.io/apiserver */
export function encodeContinue(prefix: string, start: string, revision: number): string {
  const token = { v: 'meta.k8s.io/v1', rv: revision, start: start.slice(prefix.length) };
  return Buffer.from(JSON.stringify(token)).toString('base64url');
}

/** The error for tokens of other servers, and of a future revision. */
export function notIssued(): ArcError {
  return badRequest('continue key is not valid: it was not issued by this server');
}

function unreadable(why: string): ArcError {
  return badRequest(`invalid continue token: continue key is not valid: ${why}`);
}

/** The first byte that cannot be base64url; undefined if all can. */
function firstBadByte(text: string): number | undefined {
  const at = text.search(/[^A-Za-z0-9_-]/);
  if (at >= 0) return at;
  return text.length % 4 === 1 ? text.length - 1 : undefined;
}

/** Throws BadRequest for a token that this server did not issue, and for a start outside the prefix. */
export function decodeContinue(prefix: string, text: string): Continuation {
  const badByte = firstBadByte(text);
  if (badByte !== undefined) throw unreadable(`illegal base64 data at input byte ${badByte}`);
  let token: { v?: unknown; rv?: unknown; start?: unknown };
  try {
    token = JSON.parse(Buffer.from(text, 'base64url').toString()) as typeof token;
  } catch {
    throw notIssued();
  }
  if (typeof token !== 'object' || token === null) throw notIssued();
  if (token.v !== 'meta.k8s.io/v1') {
    const version = typeof token.v === 'string' ? token.v.slice(0, 100) : '';
    throw unreadable(`server does not recognize this encoded version ${version}`);
  }
  const { rv, start } = token;
  if (typeof rv !== 'number' || !Number.isSafeInteger(rv) || rv === 0 || rv < -1) throw notIssued();
  // namespace/name or name, followed by the NUL that makes it the next key.
  if (typeof start !== 'string' || !/^(?:[^/\0]+\/)?[^/\0]+\0$/.test(start)) throw notIssued();
  if (start.split('/').some((part) => part === '..' || part === '.')) throw notIssued();
  return { revision: rv, start: prefix + start };
}
