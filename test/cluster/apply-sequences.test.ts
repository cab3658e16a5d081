import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fc, runs, seed, timeoutOf } from '#shared/base/testing';
import { createNamespace } from '../conformance/judge.ts';
import { type Pair, startPair } from '../conformance/pair.ts';
import { gadget } from '../conformance/sequences/gadget.ts';
import { type Operation, sequences } from '../conformance/sequences/operations.ts';
import { firstDifference, namespace } from '../conformance/sequences/play.ts';

const assets = process.env.KUBEBUILDER_ASSETS;
if (process.env.CI && !assets)
  throw new Error('set KUBEBUILDER_ASSETS to a folder that holds etcd and kube-apiserver');

/** Sequences that run at the same time, each on an object of its own, and how many follow one another. */
const lanes = 8;
const perLane = 220;
const leastOperations = 10_000;

describe.skipIf(!assets)('random writes to one object, on a real kube-apiserver and on ours', () => {
  let pair: Pair;
  let objects = 0;
  let operations = 0;

  beforeAll(async () => {
    pair = await startPair(assets ?? '', [gadget]);
    for (const client of [pair.ours, pair.reference]) await createNamespace(client, namespace);
  }, 180_000);
  afterAll(() => pair.stop(), 30_000);

  async function play(sequence: readonly Operation[]): Promise<void> {
    operations += sequence.length;
    const found = await firstDifference(pair, `g${objects++}`, sequence);
    expect(found?.differences ?? []).toEqual([]);
  }

  it('are answered alike: code, object, owners and conflicts', { timeout: timeoutOf(600_000) }, async () => {
    const lane = (index: number) =>
      fc.assert(fc.asyncProperty(sequences, play), {
        seed: (seed * 1000 + index) | 0,
        numRuns: runs(perLane),
      });
    await Promise.all(Array.from({ length: lanes }, (_, index) => lane(index)));
    expect(operations).toBeGreaterThanOrEqual(leastOperations);
  });
});
