import pMap, { pMapSkip } from 'p-map';

/**
 * Runs `work` for every item, at most `width` at a time; results in the order of the items. The first failure aborts the signal
 * of the others, and no more items are started. Rejects with that failure once all started items have settled.
 */
export async function mapBounded<T, R>(
  items: readonly T[],
  width: number,
  signal: AbortSignal,
  work: (item: T, signal: AbortSignal) => Promise<R>,
): Promise<R[]> {
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  let first: { error: unknown } | undefined;
  const one = async (item: T): Promise<R | typeof pMapSkip> => {
    if (first) return pMapSkip;
    try {
      return await work(item, either);
    } catch (error) {
      first ??= { error };
      failed.abort(error);
      return pMapSkip;
    }
  };
  const results = await pMap(items, one, { concurrency: width });
  if (first) throw first.error;
  return results;
}

/**
 * Runs `work` for every item, at most `width` at a time. A failure stops no other item. Resolves when all have settled, with the
 * failures in the order of the items.
 */
export async function eachBounded<T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<void>,
): Promise<{ item: T; error: unknown }[]> {
  const one = async (item: T) => {
    try {
      await work(item);
      return pMapSkip;
    } catch (error) {
      return { item, error };
    }
  };
  return pMap(items, one, { concurrency: width });
}
