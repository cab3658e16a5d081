import type { ClientRequest } from 'node:http';

/** Calls `fail` when the connection of a request ends before its answer begins. An answer of 101 ends it so, and Node reports no error. */
export function failWhenCut(request: ClientRequest, fail: (cause: Error) => void): void {
  const cut = () => fail(new Error('the connection ended before the answer began'));
  request.once('close', cut).once('response', () => request.off('close', cut));
}
