import type { Logger } from 'pino';
import { createBackoff, pause } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';

/** Retries a write until it succeeds, its object is gone, or the executor ends. Never rejects. `what` is for the log. */
export async function writeUntilDone(
  what: object,
  write: () => Promise<unknown>,
  { signal, log }: { signal: AbortSignal; log: Logger },
): Promise<void> {
  const backoff = createBackoff({ random: Math.random });
  while (!signal.aborted) {
    try {
      await write();
      return;
    } catch (caught) {
      // Conflict and Invalid: the object of this uid no longer exists.
      if (ArcError.is(caught, 'NotFound', 'Conflict', 'Invalid')) {
        log.info({ err: caught, ...what }, 'an object went away while its program ran');
        return;
      }
      if (!signal.aborted)
        log.warn({ err: caught, ...what }, 'an object could not be written: it is tried again');
      await pause(backoff.next(), signal);
    }
  }
}
