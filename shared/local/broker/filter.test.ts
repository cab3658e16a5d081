import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { type Filter, matches } from './filter.ts';

const event = { type: 'a.b.c', source: '/x', kind: 'Order', reason: 'changed' };

describe('matches', () => {
  it.each<[string, Filter, boolean]>([
    ['exact, all of them', { exact: { type: 'a.b.c', kind: 'Order' } }, true],
    ['exact, one differs', { exact: { type: 'a.b.c', kind: 'order' } }, false],
    ['exact, absent attribute', { exact: { nothere: '' } }, false],
    ['an inherited property is no attribute', { prefix: { toString: '' } } as Filter, false],
    ['prefix', { prefix: { type: 'a.b' } }, true],
    ['prefix differs', { prefix: { type: 'b' } }, false],
    ['suffix', { suffix: { type: '.c' } }, true],
    ['all', { all: [{ exact: { kind: 'Order' } }, { prefix: { type: 'z' } }] }, false],
    ['any', { any: [{ exact: { kind: 'Order' } }, { prefix: { type: 'z' } }] }, true],
    ['not', { not: { exact: { kind: 'Order' } } }, false],
    ['not of an absent attribute', { not: { exact: { nothere: 'x' } } }, true],
    ['empty any', { any: [] }, false],
    ['empty all', { all: [] }, true],
  ])('%s', (_name, filter, expected) => expect(matches(filter, event)).toBe(expected));

  it('not is the opposite, all and any are dual', () => {
    const leaf = fc.record({
      exact: fc.dictionary(fc.constantFrom('kind', 'type'), fc.constantFrom('Order', 'x')),
    });
    fc.assert(
      fc.property(fc.array(leaf), (filters) => {
        const none = filters.map((one): Filter => ({ not: one }));
        expect(matches({ not: { all: filters } }, event)).toBe(matches({ any: none }, event));
      }),
    );
  });
});
