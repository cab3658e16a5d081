import { pauseOrStop } from '../http/retry.ts';

/** Writes of one tag that others write as well, before a transfer gives up. */
export const maxTagWrites = 8;

const minWaitMs = 100;
const maxWaitMs = 5_000;

/**
 * Waits after a tag was read, merged and written, until another client that read it before that write has written it, too: a registry has no
 * conditional PUT, so the tag has to be read again, and at once it would only show our own write. Such a client is taken to need twice
 * as long as we did (`elapsedMs`). The jitter keeps two writers from overwriting each other in step.
 */
export async function waitForConcurrentWriters(elapsedMs: number, signal: AbortSignal): Promise<void> {
  await pauseOrStop(Math.min(minWaitMs * (1 + Math.random()) + 2 * elapsedMs, maxWaitMs), signal);
}
