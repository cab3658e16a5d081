import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { canonicalJson, sameJson } from './json.ts';
import { applyMergePatch, mergePatchBetween } from './merge-patch.ts';

// RFC 7396, appendix A: original, patch, result.
const examples: [unknown, unknown, unknown][] = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [
    ['a', 'b'],
    ['c', 'd'],
    ['c', 'd'],
  ],
  [{ a: 'b' }, ['c'], ['c']],
  [{ a: 'foo' }, null, null],
  [{ a: 'foo' }, 'bar', 'bar'],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
];

const { fields } = fc.letrec<{ value: unknown; fields: Record<string, unknown> }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(0, 1, 'x', true),
    fc.array(tie('value'), { maxLength: 2 }),
    tie('fields'),
  ),
  fields: fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'toString'), tie('value'), { maxKeys: 3 }),
}));

describe('applyMergePatch', () => {
  it.each(examples)('of %j with %j gives %j', (target, patch, result) => {
    expect(applyMergePatch(target, patch)).toEqual(result);
  });

  it('changes nothing more the second time', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (target, patch) => {
        const before = JSON.stringify(target);
        const once = applyMergePatch(target, patch);
        expect(applyMergePatch(once, patch)).toEqual(once);
        expect(JSON.stringify(target)).toBe(before);
      }),
    );
  });

  it('changes neither the target nor the patch', () => {
    fc.assert(
      fc.property(fields, fields, (target, patch) => {
        const before = canonicalJson([target, patch]);
        applyMergePatch(target, patch);
        expect(canonicalJson([target, patch])).toBe(before);
      }),
    );
  });
});

describe('mergePatchBetween', () => {
  it('turns the one value into the other', () => {
    fc.assert(
      fc.property(fields, fields, (before, after) => {
        const patch = mergePatchBetween(before, after);
        expect(sameJson(patch === undefined ? before : applyMergePatch(before, patch), after)).toBe(true);
      }),
    );
  });

  it('is undefined for equal values', () => {
    fc.assert(fc.property(fields, (value) => mergePatchBetween(value, structuredClone(value)) === undefined));
    expect(mergePatchBetween(undefined, {})).toBeUndefined();
    expect(mergePatchBetween({ a: 1 }, { a: 1, b: undefined })).toBeUndefined();
    expect(mergePatchBetween({ a: 1, b: undefined }, { a: 1 })).toBeUndefined();
  });

  it('names only the fields that differ, at every depth', () => {
    const before = { a: 1, gone: 2, in: { x: 1, y: 2 } };
    expect(mergePatchBetween(before, { a: 1, in: { x: 1, y: 3 } })).toEqual({ gone: null, in: { y: 3 } });
  });
});
