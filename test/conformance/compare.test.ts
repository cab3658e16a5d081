import { describe, expect, it } from 'vitest';
import { compare, explain } from './compare.ts';

const normal = (body: unknown, code = 200) => ({
  code,
  contentType: 'application/json',
  warnings: [],
  retryAfter: undefined,
  encoding: undefined,
  cacheControl: undefined,
  indented: false,
  body,
});

describe('compare', () => {
  it('finds no difference between equal answers, in any order of fields', () => {
    expect(compare(normal([{ a: 1, b: 2 }]), normal([{ b: 2, a: 1 }]))).toEqual([]);
  });
  it('names the path of each difference', () => {
    expect(compare(normal([{ a: { b: 1 }, c: 1 }], 201), normal([{ a: { b: 2 } }]))).toEqual([
      { path: 'code', ours: 201, reference: 200 },
      { path: 'body.0.a.b', ours: 1, reference: 2 },
      { path: 'body.0.c', ours: 1, reference: undefined },
    ]);
  });
  it('shows both lists when their lengths differ', () => {
    expect(compare(normal([1]), normal([1, 2]))).toEqual([{ path: 'body', ours: [1], reference: [1, 2] }]);
  });
});

describe('explain', () => {
  const rules = [
    { id: 'code', steps: ['a/one'], paths: '^code$', reason: '' },
    { id: 'body', steps: ['a/one', 'a/two'], paths: '^body', reason: '' },
  ];
  const at = (path: string) => ({ path, ours: 1, reference: 2 });
  it('needs an explanation for every difference', () => {
    expect(explain('a/one', [at('code'), at('body.0')], rules)).toEqual(['code', 'body']);
    expect(explain('a/two', [at('code'), at('body.0')], rules)).toBeUndefined();
    expect(explain('b/one', [at('body.0')], rules)).toBeUndefined();
  });
});
