import { describe, expect, it } from 'vitest';
import { aWidget, sampleWidget } from '../../testing/sample-widget.ts';
import { mergeTypeOf } from './merge-type.ts';
import { compareTyped } from './typed-compare.ts';

const type = mergeTypeOf(sampleWidget);

function changes(before: object, after: object) {
  const { added, modified, removed } = compareTyped(type, aWidget(before), aWidget(after), {});
  return [added, modified, removed].map((set) => set['f:spec']);
}

describe('compareTyped', () => {
  it.each([
    [{ color: 'a' }, { color: 'b', size: 1 }, { 'f:size': {} }, { 'f:color': {} }, undefined],
    [{ size: 1, flag: true }, { size: 1 }, undefined, undefined, { 'f:flag': {} }],
    [
      { tags: ['a', 'b'] },
      { tags: ['b', 'c'] },
      { 'f:tags': { 'v:"c"': {} } },
      undefined,
      { 'f:tags': { 'v:"a"': {} } },
    ],
    [{ tags: ['a', 'b'] }, { tags: ['b', 'a'] }, undefined, undefined, undefined],
    [{ plain: ['a'] }, { plain: ['a', 'b'] }, undefined, { 'f:plain': {} }, undefined],
    [
      { free: { a: 1 } },
      { free: { a: { b: 1 } } },
      { 'f:free': { 'f:a': { 'f:b': {} } } },
      { 'f:free': { 'f:a': {} } },
      undefined,
    ],
    [{ map: {}, size: 1 }, { size: 1 }, undefined, undefined, { 'f:map': {} }],
    [{ note: null, size: 1 }, { note: 'x', size: 1 }, undefined, { 'f:note': {} }, undefined],
  ])('from %j to %j', (before, after, added, modified, removed) => {
    expect(changes(before, after)).toEqual([added, modified, removed]);
  });

  it('marks parents of new fields', () => {
    expect(changes({ size: 1 }, { size: 1, map: { a: 'b' } })[0]).toEqual({
      'f:map': { '.': {}, 'f:a': {} },
    });
  });

  it('treats duplicate items as one', () => {
    const twice = { parts: [{ name: 'a', url: 'x' }, { name: 'a' }] };
    const once = { parts: [{ name: 'a', url: 'x' }] };
    const item = { 'f:parts': { 'k:{"name":"a"}': {} } };
    expect(changes(once, twice)[0]).toEqual(item);
    expect(changes(twice, { parts: [{ name: 'a' }, { name: 'a' }] })[1]).toEqual(item);
    expect(changes(twice, { parts: [] })[2]).toEqual(item);
  });

  it('skips ignored fields', () => {
    const result = compareTyped(type, aWidget({ size: 1 }), aWidget({ size: 2 }), { 'f:spec': {} });
    expect(result).toEqual({ added: {}, modified: {}, removed: {} });
  });

  it('finds everything new where there was nothing', () => {
    expect(compareTyped(type, undefined, aWidget({ size: 1 }), {}).added['f:spec']).toEqual({
      '.': {},
      'f:size': {},
    });
  });
});
