import { describe, expect, it } from 'vitest';
import { fc } from '#shared/testing';
import { HashIndex, hashOf } from './hash-index.ts';

describe('HashIndex', () => {
  it('finds what a map of sets finds, with hashes that lie close and far', () => {
    const hash = fc.oneof(fc.nat({ max: 40 }), fc.integer({ min: 0, max: 2 ** 31 - 2 }));
    const step = fc.record({ hash, number: fc.nat({ max: 30 }), gone: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const index = new HashIndex();
        const model = new Map<number, Set<number>>();
        for (const { hash: key, number, gone } of steps) {
          const known = model.get(key) ?? new Set();
          model.set(key, known);
          if (gone) {
            index.delete(key, number);
            known.delete(number);
          } else {
            index.add(key, number);
            known.add(number);
          }
        }
        for (const [key, known] of model)
          expect([...index.get(key)].toSorted((a, b) => a - b)).toEqual([...known].toSorted((a, b) => a - b));
      }),
    );
  });
});

describe('hashOf', () => {
  it('gives equal texts equal numbers below 2^31, and others mostly different ones', () => {
    const texts = Array.from({ length: 10_000 }, (_, index) => `team-${index % 7}/release-${index}`);
    const hashes = texts.map(hashOf);
    expect(texts.map(hashOf)).toEqual(hashes);
    for (const hash of hashes) expect(Number.isInteger(hash) && hash >= 0 && hash < 2 ** 31).toBe(true);
    expect(new Set(hashes).size).toBeGreaterThan(9_900);
  });
});
