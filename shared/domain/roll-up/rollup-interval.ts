/**
 * Returns the minimum time in milliseconds between two status writes of an Order. It grows with the number of artifacts, as the size of a
 * write does, and with the duration of the run, so that a run of any length costs about 20 writes. The first status and the
 * last are exempt.
 */
export function rollUpInterval(artifacts: number, elapsedMs: number): number {
  // Two updates per second are enough for many artifacts. A single artifact has few updates.
  const bySize = artifacts <= 1 ? 0 : Math.min(5_000, Math.max(artifacts * 2, Math.min(500, artifacts * 50)));
  const byTime = Math.min(
    artifacts <= 10 ? 30_000 : 300_000,
    Math.max(0, elapsedMs) / (artifacts <= 10 ? 10 : 3),
  );
  return Math.round(Math.max(bySize, byTime));
}
