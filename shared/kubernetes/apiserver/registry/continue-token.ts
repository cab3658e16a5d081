import type { ArcError } from '#shared/base/errors';
import { badRequest } from '../errors/api-errors.ts';

/** The start of the next page of a list. `revision` -1: the newest revision, because the original one was compacted. */
export interface Continuation {
  revision: number;
  /** The first key of the page, including the prefix of the list. */
  start: string;
}

/** Returns a token in the format of storage.EncodeContinue of k8s.io/apiserver. @param start a key with `prefix` */
export function encodeContinue(prefix: string, start: string, revision: number): string {
  const token = { v: 'meta.k8s.io/v1', rv: revision, start: start.slice(prefix.length) };
  return Buffer.from(JSON.stringify(token)).toString('base64url');
}

/** The error of a token from another server or of a future revision. */
export function notIssued(): ArcError {
  return badRequest('continue key is not valid: it was not issued by this server');
}

function invalidToken(reason: string): ArcError {
  return badRequest(`invalid continue token: continue key is not valid: ${reason}`);
}

/** Returns the position of the first byte that is not base64url, if any. */
function firstBadByte(text: string): number | undefined {
  const at = text.search(/[^A-Za-z0-9_-]/);
  if (at >= 0) return at;
  return text.length % 4 === 1 ? text.length - 1 : undefined;
}

/** Parses a continue token. Throws BadRequest for a token of another server and for a start outside the prefix. */
export function decodeContinue(prefix: string, text: string): Continuation {
  const badByte = firstBadByte(text);
  if (badByte !== undefined) throw invalidToken(`illegal base64 data at input byte ${badByte}`);
  let token: { v?: unknown; rv?: unknown; start?: unknown };
  try {
    token = JSON.parse(Buffer.from(text, 'base64url').toString()) as typeof token;
  } catch {
    throw notIssued();
  }
  if (typeof token !== 'object' || token === null) throw notIssued();
  if (token.v !== 'meta.k8s.io/v1') {
    const version = typeof token.v === 'string' ? token.v.slice(0, 100) : '';
    throw invalidToken(`server does not recognize this encoded version ${version}`);
  }
  const { rv, start } = token;
  if (typeof rv !== 'number' || !Number.isSafeInteger(rv) || rv === 0 || rv < -1) throw notIssued();
  // namespace/name or name, with a NUL suffix: the smallest key after that object.
  if (typeof start !== 'string' || !/^(?:[^/\0]+\/)?[^/\0]+\0$/.test(start)) throw notIssued();
  if (start.split('/').some((part) => part === '..' || part === '.')) throw notIssued();
  return { revision: rv, start: prefix + start };
}
