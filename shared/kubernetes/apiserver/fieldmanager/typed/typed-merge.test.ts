import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { aWidget, sampleWidget } from '../../testing/sample-widget.ts';
import { mergeTypeOf } from './merge-type.ts';
import { mergeTyped } from './typed-merge.ts';

const type = mergeTypeOf(sampleWidget);

function merged(live: object, applied: object): unknown {
  return (mergeTyped(type, aWidget(live), aWidget(applied)) as { spec?: unknown }).spec;
}

describe('mergeTyped', () => {
  it.each([
    [{ color: 'a', size: 1 }, { color: 'b' }, { color: 'b', size: 1 }],
    [{ map: { a: '1' } }, { map: { b: '2' } }, { map: { a: '1', b: '2' } }],
    [{ amap: { a: '1' } }, { amap: { b: '2' } }, { amap: { b: '2' } }],
    [{ plain: ['a'] }, { plain: ['b'] }, { plain: ['b'] }],
    [{ any: { a: 1 } }, { any: [1] }, { any: [1] }],
    [{ any: [1] }, { any: { a: 1 } }, { any: { a: 1 } }],
    [
      { parts: [{ name: 'a', url: 'u' }] },
      { parts: [{ name: 'a', tags: ['t'] }] },
      { parts: [{ name: 'a', url: 'u', tags: ['t'] }] },
    ],
    [{ tags: ['a'] }, { tags: [] }, { tags: ['a'] }],
    [{ tags: [] }, { color: 'x' }, { tags: [], color: 'x' }],
    [{ tags: ['a', 'a', 'b'] }, { tags: ['c'] }, { tags: ['a', 'a', 'b', 'c'] }],
    [{ tags: ['a', 'a', 'b'] }, { tags: ['b', 'a'] }, { tags: ['b', 'a'] }],
  ])('%j with %j', (live, applied, result) => {
    expect(merged(live, applied)).toEqual(result);
  });

  it.each([
    ['abcd', 'xb', 'axbcd'],
    ['abcd', 'da', 'bcda'],
    ['abc', 'cxa', 'bcxa'],
    ['ab', 'xy', 'abxy'],
  ])('orders %s with %s as %s', (live, applied, order) => {
    const result = merged({ tags: [...live] }, { tags: [...applied] });
    expect((result as { tags: string[] }).tags.join('')).toBe(order);
  });

  it('keeps every item once, and applied items in their order', () => {
    const items = fc.uniqueArray(fc.constantFrom(...'abcdefgh'), { minLength: 1 });
    fc.assert(
      fc.property(items, items, (live, applied) => {
        const { tags } = merged({ tags: live }, { tags: applied }) as { tags: string[] };
        expect(tags.toSorted()).toEqual([...new Set([...live, ...applied])].sort());
        expect(tags.filter((tag) => applied.includes(tag))).toEqual(applied);
      }),
    );
  });

  it('shares parts that the configuration omits with the live object', () => {
    const live = aWidget({ free: { a: {} }, size: 1 });
    const result = mergeTyped(type, live, aWidget({ size: 2 })) as { spec: { free: unknown } };
    expect(result.spec.free).toBe((live.spec as { free: unknown }).free);
  });

  it('keeps fields whose names mean something to JavaScript', () => {
    const free = JSON.parse('{"__proto__":{"a":1},"constructor":1}');
    expect(JSON.stringify(merged({ free: { x: 1 } }, { free }))).toBe(
      '{"free":{"x":1,"__proto__":{"a":1},"constructor":1}}',
    );
  });
});
