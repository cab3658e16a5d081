import { describe, expect, it } from 'vitest';
import { fc } from '#shared/testing';
import { createTally } from './copy-progress.ts';

const blob = (digest: string, size: number) => ({ mediaType: 'x', digest, size });

describe('the tally', () => {
  it('never falls, also when a blob is sent again from its beginning, and ends at the total', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(100), { maxLength: 30 }), (positions) => {
        const seen: number[] = [];
        const tally = createTally(110, (done) => seen.push(done));
        for (const position of positions) tally.sent(blob('a', 100), position);
        tally.settled(blob('a', 100), 'copied');
        tally.manifests(10);
        expect(seen).toEqual([...seen].sort((a, b) => a - b));
        expect(seen.at(-1)).toBe(110);
      }),
    );
  });

  it('counts blobs and bytes by what became of them', () => {
    const tally = createTally(30, undefined);
    tally.settled(blob('a', 10), 'existed');
    tally.settled(blob('b', 20), 'mounted');
    expect(tally.blobs).toEqual({ copied: 0, existed: 1, mounted: 1 });
    expect(tally.bytes).toEqual({ copied: 0, existed: 10, mounted: 20 });
  });
});
