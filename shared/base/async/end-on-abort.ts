import type { ClientRequest } from 'node:http';

/** As Node's own, which it does not export. */
class AbortError extends Error {
  override readonly name = 'AbortError';
  readonly code = 'ABORT_ERR';
}

/**
 * Ends `request`, its answer included, when `signal` is aborted, with the error that the option `signal` of node:http has: an AbortError
 * whose cause is the reason. That option also watches each way in which a stream can end, which is a tenth of what a short request costs.
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
