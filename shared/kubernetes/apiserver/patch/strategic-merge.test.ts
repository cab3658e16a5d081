import { describe, expect, it } from 'vitest';
import { applyMergePatch } from '#shared/base/meta';
import { fc } from '#shared/base/testing';
import { strategicMerge } from './strategic-merge.ts';

const owner = (uid: string, name = uid) => ({ uid, name });

describe('strategicMerge', () => {
  it('is a merge patch without mergeable lists and directives', () => {
    const plain = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.jsonValue());
    const known = (text: string) =>
      text.includes('"$') || text.includes('finalizers') || text.includes('ownerReferences');
    fc.assert(
      fc.property(plain, plain, (target, changes) => {
        fc.pre(!known(JSON.stringify([target, changes])));
        expect(strategicMerge(target, changes)).toEqual(applyMergePatch(target, changes));
      }),
    );
  });

  it('adds finalizers and removes listed ones', () => {
    const old = { finalizers: ['a', 'b'] };
    expect(strategicMerge(old, { finalizers: ['b', 'c'] })).toEqual({ finalizers: ['a', 'b', 'c'] });
    const removal = { '$deleteFromPrimitiveList/finalizers': ['a'], '$setElementOrder/finalizers': ['b'] };
    expect(strategicMerge(old, removal)).toEqual({ finalizers: ['b'] });
    expect(strategicMerge(old, { finalizers: null })).toEqual({});
  });

  it('merges owners by uid', () => {
    const old = { ownerReferences: [owner('1'), owner('2')] };
    expect(strategicMerge(old, { ownerReferences: [owner('2', 'x'), owner('3')] })).toEqual({
      ownerReferences: [owner('1'), owner('2', 'x'), owner('3')],
    });
    expect(strategicMerge(old, { ownerReferences: [{ $patch: 'delete', uid: '1' }] })).toEqual({
      ownerReferences: [owner('2')],
    });
    expect(strategicMerge(old, { ownerReferences: [{ $patch: 'replace' }, owner('9')] })).toEqual({
      ownerReferences: [owner('9')],
    });
  });

  it('follows directives for whole maps', () => {
    expect(strategicMerge({ data: { a: 1, b: 2 } }, { data: { $patch: 'replace', c: 3 } })).toEqual({
      data: { c: 3 },
    });
    expect(strategicMerge({ data: { a: 1 }, x: 1 }, { data: { $patch: 'delete' } })).toEqual({ x: 1 });
    expect(strategicMerge({ a: 1, b: 2 }, { $retainKeys: ['b'], b: 3 })).toEqual({ b: 3 });
  });
});
