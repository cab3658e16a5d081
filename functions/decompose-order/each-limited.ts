/**
 * Runs `work` for every item, at most `limit` at a time, and resolves when all have ended. One that rejects stops none of the
 * others; what they rejected with is returned in the order of the items.
 */
export async function eachLimited<T>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<{ item: T; error: unknown }[]> {
  const failures: { index: number; item: T; error: unknown }[] = [];
  const queue = items.entries();
  const worker = async () => {
    // All workers draw from one iterator.
    for (const [index, item] of queue) {
      try {
        await work(item);
      } catch (error) {
        failures.push({ index, item, error });
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  return failures.sort((a, b) => a.index - b.index).map(({ item, error }) => ({ item, error }));
}
