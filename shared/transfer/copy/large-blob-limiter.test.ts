import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createLargeBlobLimiter } from './large-blob-limiter.ts';

const never = 1024 ** 4;
const tenMs = 1.28 * 1024 * 1024;
const { signal } = new AbortController();

/** Six blobs that want to be copied, and which of them are under way. */
function six(size: number) {
  const turns = createLargeBlobLimiter(4);
  const begun: number[] = [];
  const copies = Array.from({ length: 6 }, (_, index) => {
    const blob = { mediaType: 'application/octet-stream', digest: `sha256:${index}`, size };
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const done = turns.run(
      blob,
      () => {
        begun.push(index);
        return promise;
      },
      signal,
    );
    return { blob, done, stored: () => resolve(index), fails: () => reject(new Error('it fails')) };
  });
  return { turns, begun, copies };
}

it('large blobs are sent one at a time, each while the previous one is being stored', async () => {
  const { turns, begun, copies } = six(never);
  const [first, second] = copies;
  await sleep(50);
  expect(begun).toEqual([0]);
  if (first) turns.sent(first.blob, never - 1);
  await sleep(5);
  expect(begun).toEqual([0]);
  if (first) turns.sent(first.blob, never);
  await sleep(5);
  expect(begun).toEqual([0, 1]);
  // A turn ends once.
  first?.stored();
  await expect(first?.done).resolves.toBe(0);
  await sleep(5);
  expect(begun).toEqual([0, 1]);
  second?.fails();
  await expect(second?.done).rejects.toThrow('it fails');
  await sleep(5);
  expect(begun).toEqual([0, 1, 2]);
});

it('once a large blob has taken long, four are sent at a time', async () => {
  const { begun, copies } = six(tenMs);
  await expect.poll(() => begun).toEqual([0, 1, 2, 3]);
  await sleep(50);
  expect(begun).toHaveLength(4);
  copies[2]?.stored();
  await expect.poll(() => begun).toEqual([0, 1, 2, 3, 4]);
});

it('waiting for a slot can be aborted', async () => {
  const { turns, begun } = six(never);
  const abort = new AbortController();
  const blob = { mediaType: 'application/octet-stream', digest: 'sha256:7', size: never };
  const waiting = turns.run(blob, async () => begun.push(7), abort.signal);
  abort.abort();
  await expect(waiting).rejects.toThrow('stopped');
  expect(begun).toEqual([0]);
});
