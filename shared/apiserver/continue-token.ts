import type { ArcError } from '#shared/errors';
import { badRequest } from './status.ts';

/** Where the next page of a list starts. `revision` -1: at whatever is newest, the old state is gone. */
export interface Continuation {
  revision: number;
  /** The first key of the page, below the list's prefix. */
  start: string;
}

/** `start` must lie under `prefix`; the token holds only what follows it. Format of apiserver's storage.EncodeContinue. */
export function encodeContinue(prefix: string, start: string, revision: number): string {
  const token = { v: 'meta.k8s.io/v1', rv: revision, start: start.slice(prefix.length) };
  return Buffer.from(JSON.stringify(token)).toString('base64url');
}

/** For tokens that are not ours, and for ours of a revision that is still to come. */
export function notIssued(): ArcError {
  return badRequest('continue key is not valid: it was not issued by this server');
}

/** Rejects with BadRequest for what we did not issue, and for a start that would leave the prefix. */
export function decodeContinue(prefix: string, text: string): Continuation {
  let token: { v?: unknown; rv?: unknown; start?: unknown };
  try {
    token = JSON.parse(Buffer.from(text, 'base64url').toString()) as typeof token;
  } catch {
    throw notIssued();
  }
  if (typeof token !== 'object' || token === null || token.v !== 'meta.k8s.io/v1') throw notIssued();
  const { rv, start } = token;
  if (typeof rv !== 'number' || !Number.isSafeInteger(rv) || rv === 0 || rv < -1) throw notIssued();
  // Canonical: at most namespace/name, closed by the NUL that makes it the next key.
  if (typeof start !== 'string' || !/^(?:[^/\0]+\/)?[^/\0]+\0$/.test(start)) throw notIssued();
  if (start.split('/').some((part) => part === '..' || part === '.')) throw notIssued();
  return { revision: rv, start: prefix + start };
}
