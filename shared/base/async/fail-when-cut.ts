import type { ClientRequest } from 'node:http';

/** Calls `fail` when the connection of a request ends before its answer begins. Node reports no error after an answer of 101. */
export function failWhenCut(request: ClientRequest, fail: (cause: Error) => void): void {
  const cut = () => fail(new Error('the connection ended before the answer began'));
  request.once('close', cut).once('response', () => request.off('close', cut));
}
