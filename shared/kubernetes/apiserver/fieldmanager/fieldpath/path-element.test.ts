import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import {
  canonicalElement,
  fieldElement,
  fieldNameOf,
  keyElement,
  showElement,
  showPath,
  sortElements,
  valueElement,
} from './path-element.ts';

describe('elements', () => {
  it('are written as FieldsV1 has them', () => {
    expect(fieldElement('a.b/c')).toBe('f:a.b/c');
    expect(valueElement('a')).toBe('v:"a"');
    expect(valueElement(1)).toBe('v:1');
    expect(
      keyElement([
        ['port', 80],
        ['name', 'a'],
      ]),
    ).toBe('k:{"name":"a","port":80}');
  });

  it('escape the characters that Go escapes in JSON', () => {
    expect(valueElement('<&>')).toBe('v:"\\u003c\\u0026\\u003e"');
    expect(keyElement([['a<', 'b<']])).toBe('k:{"a<":"b\\u003c"}');
  });

  it('tell a field from an item', () => {
    expect(fieldNameOf('f:a')).toBe('a');
    expect(fieldNameOf('v:"a"')).toBeUndefined();
  });
});

describe('canonicalElement', () => {
  it.each([
    ['k:{ "b":1, "a":"x" }', 'k:{"a":"x","b":1}'],
    ['v: 1.0', 'v:1'],
    ['f: x', 'f: x'],
    ['i:03', 'i:3'],
    ['x:what', undefined],
  ])('reads %s', (text, canonical) => {
    expect(canonicalElement(text)).toBe(canonical);
  });

  it.each(['', 'a', 'fa', 'k:[]', 'k:1', 'k:null', 'v:', 'k:{', 'i:x'])('refuses %j', (text) => {
    expect(() => canonicalElement(text)).toThrow(SyntaxError);
  });

  it('keeps canonical elements unchanged', () => {
    const scalar = fc.oneof(fc.string(), fc.integer(), fc.boolean());
    const written = fc.oneof(
      fc.string().map(fieldElement),
      scalar.map(valueElement),
      fc.array(fc.tuple(fc.string({ unit: 'grapheme' }), scalar), { minLength: 1 }).map((keys) => {
        const unique = new Map(keys.filter(([name]) => name !== '__proto__' && !/^\d+$/.test(name)));
        return keyElement([...unique]);
      }),
    );
    fc.assert(fc.property(written, (element) => canonicalElement(element) === element));
  });
});

describe('showing', () => {
  it('writes paths as messages do', () => {
    const path = ['f:spec', 'f:parts', 'k:{"name":"a","port":1}', 'f:tags', 'v:"x"'];
    expect(showPath(path)).toBe('.spec.parts[name="a",port=1].tags[="x"]');
    expect(showElement('i:2')).toBe('[2]');
    expect(showPath([`f:${'x'.repeat(5000)}`])).toHaveLength(2001);
  });
});

describe('sortElements', () => {
  it('orders by kind, then by content', () => {
    const ordered = [
      'f:a',
      'f:b',
      'k:{"a":1}',
      'k:{"a":2}',
      'k:{"a":2,"b":1}',
      'k:{"a":"x"}',
      'v:2',
      'v:10',
      'v:"a"',
      'v:true',
    ];
    expect(sortElements([...ordered].reverse())).toEqual(ordered);
  });
});
