import { describe, expect, it } from 'vitest';
import type { KubeObject } from '#shared/base/meta';
import { fc } from '../../base/testing/index.ts';
import { artifactWorkflow, endpoint, order } from '../testing/objects.ts';
import { isInShard, rootUid, shardOf, wholeShard } from './shards.ts';

const uid = fc.uuid();
const shardCount = fc.integer({ min: 1, max: 64 });

describe('shardOf', () => {
  it('puts every object that has duties into exactly one shard, that of its root', () => {
    const objects = fc.constantFrom(order('o', ['a']), endpoint('e'), artifactWorkflow('w'));
    const label = fc.option(uid, { nil: undefined });
    fc.assert(
      fc.property(objects, uid, label, fc.boolean(), shardCount, (some, own, labelled, isOwned, of) => {
        const { ownerReferences = [], ...rest } = some.metadata;
        const labels = labelled === undefined ? {} : { 'arc.opendefense.cloud/order': labelled };
        const owned = isOwned ? { ownerReferences } : {};
        const object = {
          ...some,
          metadata: { ...rest, uid: own, labels, ...owned },
        } as KubeObject;
        const found = Array.from({ length: of }, (_, index) => index).filter((index) =>
          isInShard(object, { index, of }),
        );
        expect(found).toEqual([shardOf(rootUid(object), of)]);
      }),
    );
  });

  it('keeps an Order and its ArtifactWorkflows together', () => {
    const owner = order('order', ['a']);
    const child = artifactWorkflow('child');
    for (let index = 0; index < 16; index += 1)
      expect(isInShard(child, { index, of: 16 })).toBe(isInShard(owner, { index, of: 16 }));
  });

  it.each([2, 3, 7, 16])('spreads uids evenly over %i shards', (of) => {
    const counts = new Array<number>(of).fill(0);
    const all = 20_000;
    for (let at = 0; at < all; at += 1) {
      const index = shardOf(`5f0c1b6e-0000-4000-8000-${at.toString(16).padStart(12, '0')}`, of);
      counts[index] = (counts[index] ?? 0) + 1;
    }
    // Five standard deviations of a fair draw.
    const bound = 5 * Math.sqrt(all / of);
    for (const count of counts) expect(Math.abs(count - all / of)).toBeLessThan(bound);
  });

  it('puts everything into the only one', () => {
    expect(isInShard(order('o', ['a']), wholeShard)).toBe(true);
  });
});
