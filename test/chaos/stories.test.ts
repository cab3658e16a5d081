import { describe, expect, it } from 'vitest';
import { fc, runs, timeoutOf } from '#shared/base/testing';
import { faultsOf } from './model/oracle.ts';
import { play, type Story } from './model/story.ts';

const stories: fc.Arbitrary<Story> = fc.record({
  clocks: fc.nat({ max: 2 ** 20 - 1 }),
  lost: fc.nat({ max: 2 ** 20 - 1 }),
  steps: fc.array(fc.nat({ max: 2 ** 20 - 1 }), { minLength: 100, maxLength: 600, size: 'max' }),
});

describe('whatever people, machines and clocks do', () => {
  it('ends with Orders that say what the registry holds, and in silence', {
    timeout: timeoutOf(240_000),
  }, async () => {
    await fc.assert(
      fc.asyncProperty(stories, async (story) => {
        expect(faultsOf(await play(story))).toEqual([]);
      }),
      // Shrinking would take longer than reading what was found.
      { numRuns: runs(100), endOnFailure: true },
    );
  });

  it('ends in the same way when no event of a duty arrives: each that a sweep finds changes something', {
    timeout: timeoutOf(120_000),
  }, async () => {
    await fc.assert(
      fc.asyncProperty(stories, async (story) => {
        const limits = story.clocks & ~(2 ** 18 - 1);
        expect(faultsOf(await play({ ...story, clocks: limits }, { bySweep: true }))).toEqual([]);
      }),
      { numRuns: runs(20), endOnFailure: true },
    );
  });

  it('leaves no work to any function while no duty is due', { timeout: timeoutOf(120_000) }, async () => {
    await fc.assert(
      // Clocks that are right: a function that is ahead of the bridge may find something to do that is not due yet.
      fc.asyncProperty(stories, async (story) => {
        const limits = story.clocks & ~(2 ** 18 - 1);
        expect((await play({ ...story, clocks: limits }, { checksRest: true })).lies).toEqual([]);
      }),
      { numRuns: runs(20), endOnFailure: true },
    );
  });
});
