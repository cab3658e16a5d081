import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  below,
  difference,
  type FieldSet,
  FieldSetBuilder,
  has,
  hasElement,
  intersection,
  isEmpty,
  pathsOf,
  sorted,
  union,
  without,
} from './field-set.ts';

function setOf(...paths: string[][]): FieldSet {
  const builder = new FieldSetBuilder();
  for (const path of paths) builder.insert(path);
  return builder.result();
}

/** A set as plain text, one line a member: the model the operations are compared with. */
function members(set: FieldSet): Set<string> {
  return new Set(pathsOf(set).map((path) => path.join(' ')));
}

const path = fc.array(fc.constantFrom('f:a', 'f:b', 'k:{"n":"x"}', 'v:1', 'f:__proto__'), {
  minLength: 1,
  maxLength: 4,
});
const fields = fc.array(path, { maxLength: 8 }).map((paths) => setOf(...paths));

describe('FieldSetBuilder', () => {
  it('marks members that have members below them', () => {
    expect(setOf(['f:a'], ['f:a', 'f:b'])).toEqual({ 'f:a': { '.': {}, 'f:b': {} } });
    expect(setOf(['f:a', 'f:b'], ['f:a'])).toEqual({ 'f:a': { 'f:b': {}, '.': {} } });
    expect(setOf(['f:a', 'f:b'], ['f:a', 'f:c'])).toEqual({ 'f:a': { 'f:b': {}, 'f:c': {} } });
    expect(setOf([])).toEqual({});
    expect(setOf(['f:a'], ['f:a'])).toEqual({ 'f:a': {} });
  });

  it('holds exactly what was inserted', () => {
    fc.assert(
      fc.property(fc.array(path), (paths) => {
        expect(members(setOf(...paths))).toEqual(new Set(paths.map((one) => one.join(' '))));
      }),
    );
  });
});

describe('operations', () => {
  it('are those of sets of paths', () => {
    fc.assert(
      fc.property(fields, fields, (a, b) => {
        const [left, right] = [members(a), members(b)];
        expect(members(union(a, b))).toEqual(left.union(right));
        expect(members(intersection(a, b))).toEqual(left.intersection(right));
        expect(members(difference(a, b))).toEqual(left.difference(right));
      }),
    );
  });

  it('without leaves out what begins with a member, too', () => {
    fc.assert(
      fc.property(fields, fields, (a, b) => {
        const removed = pathsOf(b).map((one) => `${one.join(' ')} `);
        const left = [...members(a)].filter((one) => !removed.some((start) => `${one} `.startsWith(start)));
        expect(members(without(a, b))).toEqual(new Set(left));
      }),
    );
  });

  it('keep the laws of sets', () => {
    fc.assert(
      fc.property(fields, fields, fields, (a, b, c) => {
        expect(union(a, b)).toEqual(union(b, a));
        expect(union(union(a, b), c)).toEqual(union(a, union(b, c)));
        expect(intersection(a, union(b, c))).toEqual(union(intersection(a, b), intersection(a, c)));
        expect(difference(a, union(b, c))).toEqual(difference(difference(a, b), c));
        expect(union(difference(a, b), intersection(a, b))).toEqual(a);
        expect(isEmpty(difference(a, a))).toBe(true);
      }),
    );
  });

  it('change neither operand', () => {
    fc.assert(
      fc.property(fields, fields, (a, b) => {
        const before = JSON.stringify([a, b]);
        for (const operation of [union, intersection, difference, without]) operation(a, b);
        sorted(a);
        expect(JSON.stringify([a, b])).toBe(before);
      }),
    );
  });
});

describe('looking up', () => {
  const set = setOf(['f:a'], ['f:a', 'f:b'], ['f:c', 'f:d']);

  it('tells members from mere beginnings', () => {
    expect([has(set, ['f:a']), has(set, ['f:c']), has(set, ['f:c', 'f:d']), has(set, [])]).toEqual([
      true,
      false,
      true,
      false,
    ]);
    expect([hasElement(set, 'f:a'), hasElement(set, 'f:c'), hasElement(set, 'f:x')]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('goes below a step', () => {
    expect(below(set, 'f:a')).toEqual({ 'f:b': {} });
    expect(below(set, 'f:x')).toEqual({});
  });

  it('sorts steps as text, marks first', () => {
    expect(JSON.stringify(sorted(setOf(['k:{"a":1}'], ['f:b', 'f:x'], ['f:b'])))).toBe(
      '{"f:b":{".":{},"f:x":{}},"k:{\\"a\\":1}":{}}',
    );
  });
});
