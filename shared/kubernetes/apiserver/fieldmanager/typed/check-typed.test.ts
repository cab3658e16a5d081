import { describe, expect, it } from 'vitest';
import { aWidget, sampleWidget } from '../../testing/sample-widget.ts';
import { faultText, typeFaults } from './check-typed.ts';
import { mergeTypeOf } from './merge-type.ts';

const faultsOf = (spec: object) => typeFaults(mergeTypeOf(sampleWidget), aWidget(spec));

describe('typeFaults', () => {
  it('accepts declared fields, including null', () => {
    expect(
      faultsOf({ color: null, parts: [{ name: 'a' }], free: { x: [{}] }, any: 1, port: 'http' }),
    ).toEqual([]);
  });

  it.each([
    [{ bogus: 1 }, '.spec.bogus: field not declared in schema'],
    [{ parts: [{ name: 'a', x: 1 }] }, '.spec.parts[name="a"].x: field not declared in schema'],
    [{ parts: [{ name: 'a' }, { name: 'a' }] }, '.spec.parts: duplicate entries for key [name="a"]'],
    [{ tags: ['a', 'a'] }, '.spec.tags: duplicate entries for key [="a"]'],
    [
      { tags: [null] },
      ".spec.tags: element 0: associative list without keys has an element that's an explicit null",
    ],
    [{ color: 5 }, '.spec.color: expected string, got &value.valueUnstructured{Value:5}'],
    [{ size: 'x' }, '.spec.size: expected numeric (int or float), got string'],
    [{ flag: 1 }, '.spec.flag: expected boolean, got &{1}'],
    [{ parts: {} }, '.spec.parts: expected list, got &{map[]}'],
    [{ map: ['a'] }, '.spec.map: expected map, got &{[a]}'],
    [{ plain: ['a', 1] }, '.spec.plain[1]: expected string, got &value.valueUnstructured{Value:1}'],
  ])('reports the fault in %j', (spec, fault) => {
    expect(faultsOf(spec)).toEqual([fault]);
  });

  it('stops naming after a hundred', () => {
    expect(
      faultsOf(Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`x${index}`, 1]))),
    ).toHaveLength(100);
  });
});

describe('faultText', () => {
  it('is the fault, or a list', () => {
    expect(faultText(['a'])).toBe('a');
    expect(faultText(['a', 'b'])).toBe('errors:\n  a\n  b');
  });
});
