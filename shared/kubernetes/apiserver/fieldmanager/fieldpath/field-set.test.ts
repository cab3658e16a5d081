import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import {
  childrenOf,
  difference,
  eachPath,
  type FieldSet,
  FieldSetBuilder,
  has,
  hasElement,
  intersection,
  isEmpty,
  recursiveDifference,
  sorted,
  union,
  unionOf,
} from './field-set.ts';

function setOf(...paths: string[][]): FieldSet {
  const builder = new FieldSetBuilder();
  for (const path of paths) {
    for (const element of path) builder.enter(element);
    builder.add();
    for (const _element of path) builder.leave();
  }
  return builder.result();
}

/** A set as plain text, one line a member: the model the operations are compared with. */
function members(set: FieldSet): Set<string> {
  return new Set(eachPath(set).map((path) => path.join(' ')));
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

  it('collects 12,000 paths and no more', () => {
    const paths = (count: number) => Array.from({ length: count }, (_, at) => [`f:${at}`]);
    expect(Object.keys(setOf(...paths(12_000)))).toHaveLength(12_000);
    expect(() => setOf(...paths(12_001))).toThrow(expect.objectContaining({ code: 'RequestEntityTooLarge' }));
  });

  it('contains exactly the inserted paths', () => {
    fc.assert(
      fc.property(fc.array(path), (paths) => {
        expect(members(setOf(...paths))).toEqual(new Set(paths.map((one) => one.join(' '))));
      }),
    );
  });
});

describe('a walk', () => {
  it('may add paths before and after their children', () => {
    const before = new FieldSetBuilder();
    before.enter('f:a');
    before.add();
    before.enter('f:b');
    before.add();
    before.leave();
    before.leave();
    expect(before.result()).toEqual({ 'f:a': { '.': {}, 'f:b': {} } });
    const after = new FieldSetBuilder();
    after.enter('f:a');
    after.enter('f:b');
    after.add();
    after.leave();
    after.add();
    after.add();
    after.leave();
    expect(after.result()).toEqual({ 'f:a': { '.': {}, 'f:b': {} } });
  });
});

describe('operations', () => {
  it('equal those of plain sets of paths', () => {
    fc.assert(
      fc.property(fields, fields, (a, b) => {
        const [left, right] = [members(a), members(b)];
        expect(members(union(a, b))).toEqual(left.union(right));
        expect(members(intersection(a, b))).toEqual(left.intersection(right));
        expect(members(difference(a, b))).toEqual(left.difference(right));
      }),
    );
  });

  it('recursiveDifference also removes paths with a member as prefix', () => {
    fc.assert(
      fc.property(fields, fields, (a, b) => {
        const removed = [...members(b)].map((one) => `${one} `);
        const left = [...members(a)].filter((one) => !removed.some((start) => `${one} `.startsWith(start)));
        expect(members(recursiveDifference(a, b))).toEqual(new Set(left));
      }),
    );
  });

  it('unite any number of sets', () => {
    fc.assert(
      fc.property(fc.array(fields), (sets) => {
        expect(members(unionOf(sets))).toEqual(new Set(sets.flatMap((set) => [...members(set)])));
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
        const rest = difference(a, b);
        expect(difference(rest, b)).toBe(rest);
      }),
    );
  });

  it('change neither operand', () => {
    fc.assert(
      fc.property(fields, fields, (a, b) => {
        const before = JSON.stringify([a, b]);
        for (const operation of [union, intersection, difference, recursiveDifference]) operation(a, b);
        sorted(a);
        expect(JSON.stringify([a, b])).toBe(before);
      }),
    );
  });
});

describe('looking up', () => {
  const set = setOf(['f:a'], ['f:a', 'f:b'], ['f:c', 'f:d']);

  it('distinguishes members from prefixes', () => {
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
    expect(childrenOf(set, 'f:a')).toEqual({ 'f:b': {} });
    expect(childrenOf(set, 'f:x')).toEqual({});
  });

  it('sorts steps as text, marks first', () => {
    expect(JSON.stringify(sorted(setOf(['k:{"a":1}'], ['f:b', 'f:x'], ['f:b'])))).toBe(
      '{"f:b":{".":{},"f:x":{}},"k:{\\"a\\":1}":{}}',
    );
  });
});
