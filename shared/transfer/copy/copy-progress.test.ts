import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { blobSteps, createCopyProgress } from './copy-progress.ts';

const blob = (digest: string, size: number) => ({ mediaType: 'x', digest, size });

describe('the progress of a copy', () => {
  it('never decreases, even when a blob is sent again from its beginning, and ends at the total', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(100), { maxLength: 30 }), (positions) => {
        const seen: number[] = [];
        const copyProgress = createCopyProgress(110, (done) => seen.push(done));
        for (const position of positions) copyProgress.sent(blob('a', 100), position);
        copyProgress.settled(blob('a', 100), 'copied');
        copyProgress.manifests(10, 0);
        expect(seen).toEqual([...seen].sort((a, b) => a - b));
        expect(seen.at(-1)).toBe(110);
      }),
    );
  });

  it('counts existing content neither as sent nor as to be sent', () => {
    const seen: [number, number][] = [];
    const copyProgress = createCopyProgress(130, (...both) => seen.push(both));
    copyProgress.settled(blob('a', 100), 'existed');
    copyProgress.sent(blob('b', 20), 5);
    copyProgress.settled(blob('b', 20), 'copied');
    copyProgress.manifests(10, 0);
    expect(seen).toEqual([
      [0, 130],
      [0, 30],
      [5, 30],
      [20, 30],
      [30, 30],
    ]);
  });

  it('counts blobs and bytes by outcome', () => {
    const copyProgress = createCopyProgress(30, undefined);
    copyProgress.settled(blob('a', 10), 'existed');
    copyProgress.settled(blob('b', 20), 'mounted');
    expect(copyProgress.blobs).toEqual({ copied: 0, existed: 1, mounted: 1 });
    expect(copyProgress.bytes).toEqual({ copied: 0, existed: 10, mounted: 20 });
  });
});

it('reports the first and the last blob, and not each of many at once', () => {
  const told: string[] = [];
  const settle = blobSteps(8, (step) => told.push(step));
  for (let blob = 0; blob < 8; blob += 1) settle();
  expect(told).toEqual(['1 of 8 blobs', '8 of 8 blobs']);
});
