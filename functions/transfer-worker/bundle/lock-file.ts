import { open, rm, stat } from 'node:fs/promises';
import { createBackoff, pause } from '#shared/base/async';
import { TransferError, throwIfStopped } from '#shared/transfer';

/** A lock that is older was left by a worker that was killed: its holders write a few small files. */
const staleMs = 30_000;
const mostWaitMs = 2 * staleMs;

/**
 * Takes a lock in the form of a file, on any file system that creates a file once; disposing gives it back. Waits for the holder. Rejects with a
 * TransferError when the file cannot be made, or does not go, and with what the signal was aborted with.
 */
export async function lockFile(file: string, signal: AbortSignal): Promise<AsyncDisposable> {
  const backoff = createBackoff({ baseMs: 5, maxMs: 500, random: Math.random });
  const end = performance.now() + mostWaitMs;
  for (;;) {
    throwIfStopped(signal);
    try {
      const handle = await open(file, 'wx');
      await handle.close();
      return { [Symbol.asyncDispose]: () => rm(file, { force: true }) };
    } catch (caught) {
      const { code, message } = caught as NodeJS.ErrnoException;
      if (code !== 'EEXIST') throw new TransferError('config', `Cannot write ${file}: ${message}.`);
    }
    if (performance.now() > end)
      throw new TransferError('retryable', `${file} is held by another import for too long: remove it.`);
    const held = await stat(file).catch(() => undefined);
    if (held !== undefined && Date.now() - held.mtimeMs > staleMs) await rm(file, { force: true });
    else await pause(backoff.next(), signal);
  }
}
