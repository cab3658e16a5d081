import { largestObjectBytes } from '#shared/base/meta';
import type { Order } from '../kinds/order.ts';
import { detailBytes, entryBudget, fixedBytes } from './entry.ts';

// A generation in a map, with quotes and commas; the Order's message, times and conditions.
const generationBytes = 20;
const textBytes = 5_120;

/** Returns the largest status that an Order with these artifacts can get, in bytes: entries, two maps by Endpoint, texts and counts. */
export function orderStatusRoom({ spec }: Order): number {
  const artifacts = spec.artifacts ?? [];
  const { details, messageBytes } = entryBudget(artifacts.length);
  const entries = artifacts.length * (fixedBytes + (details ? detailBytes : 0) + messageBytes);
  const endpoints = new Set(
    [spec.defaults, ...artifacts].flatMap((each) => [each?.srcRef?.name, each?.dstRef?.name]),
  );
  const maps = [...endpoints].reduce((sum, name) => sum + 2 * ((name ?? '').length + generationBytes), 0);
  return entries + maps + textBytes;
}

/**
 * Says how many artifacts an Order that is too large has to give up; `bytes` is its stored size without the status. undefined if the number of
 * artifacts is not the cause.
 */
export function orderSplit(order: Order, bytes: number): string | undefined {
  const artifacts = order.spec.artifacts ?? [];
  const ends = [0];
  for (const artifact of artifacts)
    ends.push((ends.at(-1) ?? 0) + Buffer.byteLength(JSON.stringify(artifact)) + 1);
  const rest = bytes - (ends.at(-1) ?? 0);
  const fits = (count: number) => {
    const spec = { ...order.spec, artifacts: artifacts.slice(0, count) };
    return rest + (ends[count] ?? 0) + orderStatusRoom({ ...order, spec }) <= largestObjectBytes;
  };
  let [most, tooMany] = [0, artifacts.length];
  while (tooMany - most > 1) {
    const middle = Math.floor((most + tooMany) / 2);
    if (fits(middle)) most = middle;
    else tooMany = middle;
  }
  if (most === 0) return undefined;
  const surplus = artifacts.length - most;
  return `Its first ${most} artifacts fit: move the other ${surplus} of ${artifacts.length} to further Orders.`;
}
