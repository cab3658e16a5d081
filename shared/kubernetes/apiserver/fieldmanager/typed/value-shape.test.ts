import { describe, expect, it } from 'vitest';
import type { ListType, MergeType } from './merge-type.ts';
import { elementsOf, itemElement, shapeOf, shapesOf } from './value-shape.ts';

const list: ListType = { kind: 'atomic', keys: [], items: {} };
const map = { atomic: false, fields: new Map(), values: undefined };
const open: MergeType = { scalar: 'untyped', list, map };

describe('shapeOf', () => {
  it('is the form of the value where the type has it', () => {
    expect([shapeOf(open, []), shapeOf(open, {}), shapeOf(open, 1), shapeOf(open, null)]).toEqual([
      'list',
      'map',
      'scalar',
      'map',
    ]);
    expect([shapeOf({ scalar: 'string' }, {}), shapeOf({ list }, 1)]).toEqual(['scalar', 'list']);
  });

  it('is two where the form has changed', () => {
    expect(shapesOf(open, [], 1)).toEqual(['list', 'scalar']);
    expect(shapesOf(open, 2, 1)).toEqual(['scalar']);
    expect(shapesOf(open, undefined, {})).toEqual(['map']);
    expect(shapesOf(open, [], undefined)).toEqual(['list']);
  });
});

describe('itemElement', () => {
  const keyed: ListType = {
    kind: 'map',
    keys: [
      { name: 'port', fallback: undefined },
      { name: 'proto', fallback: 'TCP' },
    ],
    items: {},
  };
  const set: ListType = { kind: 'set', keys: [], items: {} };

  it('takes defaults for keys that are left out', () => {
    expect(itemElement(keyed, { port: 1, more: 2 })).toBe('k:{"port":1,"proto":"TCP"}');
    expect(itemElement(keyed, {})).toBe('k:{"proto":"TCP"}');
  });

  it.each([null, 1, [], undefined])('finds no keys in %j', (item) => {
    expect(itemElement(keyed, item)).toHaveProperty('fault');
  });

  it('finds no key where all are left out', () => {
    const named = { ...keyed, keys: [{ name: 'name', fallback: undefined }] };
    expect(itemElement(named, {})).toEqual({
      fault:
        'associative list with keys has an element that omits all key fields ["name"] (and doesn\'t have default values for any key fields)',
    });
  });

  it.each([null, {}, []])('is no item of a set: %j', (item) => {
    expect(itemElement(set, item)).toHaveProperty('fault');
    expect(elementsOf(set, ['a', item])).toBeUndefined();
  });

  it('is the value in a set', () => {
    expect(elementsOf(set, ['a', 1, true])).toEqual(['v:"a"', 'v:1', 'v:true']);
  });
});
