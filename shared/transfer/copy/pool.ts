/**
 * `work` on every item, at most `width` at a time; results in the order of the items. The first failure aborts the
 * signal given to the others, is waited for by all, and is what this rejects with.
 */
export async function mapBounded<T, R>(
  items: readonly T[],
  width: number,
  signal: AbortSignal,
  work: (item: T, signal: AbortSignal) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const failed = new AbortController();
  const both = AbortSignal.any([signal, failed.signal]);
  let next = 0;
  let first: { error: unknown } | undefined;
  const lane = async (): Promise<void> => {
    while (next < items.length && first === undefined) {
      const index = next;
      next += 1;
      try {
        results[index] = await work(items[index] as T, both);
      } catch (error) {
        first ??= { error };
        failed.abort(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, lane));
  if (first) throw first.error;
  return results;
}
