import { open, rename, rm, stat } from 'node:fs/promises';
import { createBackoff, pause } from '#shared/base/async';
import { TransferError, throwIfAborted } from '#shared/transfer';

/** An older lock was left by a killed worker: its holders only write a few small files. */
const staleMs = 30_000;
const maxWaitMs = 2 * staleMs;

/**
 * Acquires a lock file, on any file system with exclusive creation; disposing releases it. Waits for the holder. Rejects with a TransferError if
 * the file cannot be created or the wait takes too long, and with the signal's error if aborted.
 */
export async function lockFile(file: string, signal: AbortSignal): Promise<AsyncDisposable> {
  const backoff = createBackoff({ baseMs: 5, maxMs: 500, random: Math.random });
  const end = performance.now() + maxWaitMs;
  for (;;) {
    throwIfAborted(signal);
    const began = performance.now();
    if (await take(file)) return { [Symbol.asyncDispose]: () => giveBack(file, began) };
    if (performance.now() > end)
      throw new TransferError(
        'retryable',
        `${file} has been locked by another import for too long: remove it.`,
      );
    await pause(backoff.next(), signal);
  }
}

/** Creates the file, or replaces a stale one. False if another worker holds it. */
async function take(file: string): Promise<boolean> {
  if (await create(file)) return true;
  if (!(await isStale(file))) return false;
  // Workers that saw the same stale file could remove each other's new lock. Only the holder of this second lock replaces it.
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

/** Releases the lock, unless it has become stale and may belong to another worker. */
async function giveBack(file: string, began: number): Promise<void> {
  if (performance.now() - began < staleMs) await rm(file, { force: true });
}
