import type { ClientRequest } from 'node:http';

/** Equals Node's own AbortError, which is not exported. */
class AbortError extends Error {
  override readonly name = 'AbortError';
  readonly code = 'ABORT_ERR';
}

/**
 * Ends `request`, including its answer, when `signal` is aborted, with the error of node:http's option `signal`: an AbortError whose cause
 * is the reason. That option also watches every way in which a stream can end, a tenth of the cost of a short request.
 */
export function endOnAbort(request: ClientRequest, signal: AbortSignal): void {
  const end = () =>
    request.destroy(new AbortError('The operation was aborted', { cause: signal.reason as unknown }));
  if (signal.aborted) {
    end();
    return;
  }
  signal.addEventListener('abort', end, { once: true });
  request.once('close', () => signal.removeEventListener('abort', end));
}

/** Calls `fail` when the connection of a request ends before its answer begins. Node reports no error after an answer of 101. */
export function failWhenCut(request: ClientRequest, fail: (cause: Error) => void): void {
  const cut = () => fail(new Error('the connection ended before the answer began'));
  request.once('close', cut).once('response', () => request.off('close', cut));
}
