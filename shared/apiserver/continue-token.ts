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

/** Rejects with BadRequest for what we did not issue, and for a start that would leave the prefix. */
export function decodeContinue(prefix: string, text: string): Continuation {
  const refuse = () => badRequest('continue key is not valid: it was not issued by this server');
  let token: { v?: unknown; rv?: unknown; start?: unknown };
  try {
    token = JSON.parse(Buffer.from(text, 'base64url').toString()) as typeof token;
  } catch {
    throw refuse();
  }
  if (typeof token !== 'object' || token === null || token.v !== 'meta.k8s.io/v1') throw refuse();
  const { rv, start } = token;
  if (typeof rv !== 'number' || !Number.isSafeInteger(rv) || rv === 0 || rv < -1) throw refuse();
  // Canonical: at most namespace/name, closed by the NUL that makes it the next key.
  if (typeof start !== 'string' || !/^(?:[^/\0]+\/)?[^/\0]+\0$/.test(start)) throw refuse();
  if (start.split('/').some((part) => part === '..' || part === '.')) throw refuse();
  return { revision: rv, start: prefix + start };
}
