import { open, rename, rm, stat } from 'node:fs/promises';
import { createBackoff, pause } from '#shared/base/async';
import { TransferError, throwIfAborted } from '#shared/transfer';

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
    throwIfAborted(signal);
    const began = performance.now();
    if (await take(file)) return { [Symbol.asyncDispose]: () => giveBack(file, began) };
    if (performance.now() > end)
      throw new TransferError('retryable', `${file} is held by another import for too long: remove it.`);
    await pause(backoff.next(), signal);
  }
}

/** Creates the file, or replaces it where it is stale. False: another worker holds it. */
async function take(file: string): Promise<boolean> {
  if (await create(file)) return true;
  if (!(await isStale(file))) return false;
  // Workers that saw the same stale file would remove each other's new one. Only the holder of this second lock replaces it.
  const successor = `${file}.next`;
  if (!(await take(successor))) return false;
  if (await isStale(file)) {
    await rename(successor, file);
    return true;
  }
  await rm(successor, { force: true });
  return false;
}

async function create(file: string): Promise<boolean> {
  try {
    await (await open(file, 'wx')).close();
    return true;
  } catch (caught) {
    const { code, message } = caught as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    throw new TransferError('config', `Cannot write ${file}: ${message}.`);
  }
}

async function isStale(file: string): Promise<boolean> {
  const held = await stat(file).catch(() => undefined);
  return held !== undefined && Date.now() - held.mtimeMs > staleMs;
}

/** A lock that was held for too long may be another worker's by now. */
async function giveBack(file: string, began: number): Promise<void> {
  if (performance.now() - began < staleMs) await rm(file, { force: true });
}
