/**
 * The least time in milliseconds between two status writes of an Order: it grows with the number of artifacts, because so
 * does each write, and with the time the run has taken, so that a run of any length costs about 20 writes. The writes
 * that count, of the first status and of the last, need not wait for it.
 */
export function rollUpInterval(artifacts: number, elapsedMs: number): number {
  // Nobody reads news of many artifacts more than twice a second. One artifact makes few.
  const bySize = artifacts <= 1 ? 0 : Math.min(5_000, Math.max(artifacts * 2, Math.min(500, artifacts * 50)));
  const byTime = Math.min(
    artifacts <= 10 ? 30_000 : 300_000,
    Math.max(0, elapsedMs) / (artifacts <= 10 ? 10 : 3),
  );
  return Math.round(Math.max(bySize, byTime));
}
