import { pauseUntilAborted } from '../http/retry.ts';

/** Attempts to write a tag that other clients write concurrently. */
export const maxTagWrites = 8;

const minWaitMs = 100;
const maxWaitMs = 5_000;

/**
 * Waits after a tag was read, merged and written, until a concurrent client that read the tag before that write has written it too. A
 * registry has no conditional PUT, so the tag must be read back, and an immediate read would only show our own write. The concurrent
 * client is assumed to need up to twice as long as we did (`elapsedMs`). Jitter keeps two clients from overwriting each other in lockstep.
 */
export async function waitForConcurrentWriters(elapsedMs: number, signal: AbortSignal): Promise<void> {
  await pauseUntilAborted(Math.min(minWaitMs * (1 + Math.random()) + 2 * elapsedMs, maxWaitMs), signal);
}
