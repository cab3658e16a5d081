import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { applyOperation, isOperation, type Operation, OperationError } from './json-patch.ts';

const free = { copied: () => undefined, shifted: () => undefined };
const patched = (document: unknown, ...operations: Operation[]) =>
  operations.reduce<unknown>(
    (at, operation) => applyOperation(at, operation, free),
    structuredClone(document),
  );

describe('applyOperation', () => {
  // The examples of RFC 6902, appendix A.
  it.each<[string, unknown, Operation, unknown]>([
    ['adds a field', { foo: 'bar' }, { op: 'add', path: '/baz', value: 'qux' }, { foo: 'bar', baz: 'qux' }],
    ['inserts into a list', { a: [1, 3] }, { op: 'add', path: '/a/1', value: 2 }, { a: [1, 2, 3] }],
    ['appends', { a: [1] }, { op: 'add', path: '/a/-', value: [2] }, { a: [1, [2]] }],
    ['removes a field', { a: 1, b: 2 }, { op: 'remove', path: '/a' }, { b: 2 }],
    ['removes an item', { a: [1, 2, 3] }, { op: 'remove', path: '/a/1' }, { a: [1, 3] }],
    ['replaces', { a: 1 }, { op: 'replace', path: '/a', value: null }, { a: null }],
    [
      'moves a field',
      { a: { b: 1 }, c: {} },
      { op: 'move', from: '/a/b', path: '/c/d' },
      { a: {}, c: { d: 1 } },
    ],
    ['moves an item', { a: [1, 2, 3] }, { op: 'move', from: '/a/0', path: '/a/2' }, { a: [2, 3, 1] }],
    ['copies', { a: { b: 1 } }, { op: 'copy', from: '/a', path: '/c' }, { a: { b: 1 }, c: { b: 1 } }],
    ['tests', { '/': 9, '~1': 10 }, { op: 'test', path: '/~01', value: 10 }, { '/': 9, '~1': 10 }],
    ['replaces the document', { a: 1 }, { op: 'replace', path: '', value: [] }, []],
    ['moves to where it is', { a: 1 }, { op: 'move', from: '/a', path: '/a' }, { a: 1 }],
  ])('%s', (_what, document, operation, result) => {
    expect(patched(document, operation)).toEqual(result);
  });

  it.each<[string, Operation]>([
    ['a missing parent', { op: 'add', path: '/x/y', value: 1 }],
    ['a missing field', { op: 'remove', path: '/x' }],
    ['an index beyond the end', { op: 'add', path: '/list/3', value: 1 }],
    ['an index far beyond the end', { op: 'replace', path: '/list/4294967290', value: 1 }],
    ['the length of a list', { op: 'replace', path: '/list/length', value: 4_294_967_295 }],
    ['the end of a list, to remove', { op: 'remove', path: '/list/-' }],
    ['a letter of a text', { op: 'replace', path: '/text/0', value: 'x' }],
    ['a value below itself', { op: 'move', from: '/list', path: '/list/0' }],
    ['another value', { op: 'test', path: '/text', value: 'other' }],
    ['the prototype', { op: 'add', path: '/__proto__/polluted', value: 1 }],
    ['the prototype as a field', { op: 'add', path: '/__proto__', value: {} }],
    ['what all objects inherit', { op: 'copy', from: '/toString', path: '/x' }],
    ['the constructor', { op: 'add', path: '/constructor/prototype/polluted', value: 1 }],
  ])('refuses %s', (_what, operation) => {
    expect(() => patched({ list: [1, 2], text: 'abc' }, operation)).toThrow(OperationError);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  it('shares nothing between the operation, the copies and the document', () => {
    const value = { list: [] as number[] };
    const document = patched(
      {},
      { op: 'add', path: '/a', value },
      { op: 'copy', from: '/a', path: '/b' },
      { op: 'add', path: '/b/list/-', value: 1 },
    );
    expect(document).toEqual({ a: { list: [] }, b: { list: [1] } });
    expect(value.list).toEqual([]);
  });

  it('moves a large value as often as a body can request, without copying it', () => {
    const document = { a: Array.from({ length: 100_000 }, (_, index) => index) };
    const operations = Array.from({ length: 10_000 }, (_, turn): Operation => {
      const [from, path] = turn % 2 === 0 ? ['/a', '/b'] : ['/b', '/a'];
      return { op: 'move', from, path };
    });
    const end = operations.reduce<unknown>((at, one) => applyOperation(at, one, free), document);
    expect(end).toBe(document);
  });

  it('reverts every add by a remove', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.string(),
        fc.jsonValue(),
        (given, key, value) => {
          const { [key]: _, ...document } = given;
          fc.pre(key !== '__proto__');
          const path = `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
          expect(patched(document, { op: 'add', path, value }, { op: 'remove', path })).toEqual(document);
        },
      ),
    );
  });
});

describe('isOperation', () => {
  it.each([5, [], { op: 1, path: '/a' }, { op: 'remove', path: 5 }, { op: 'move', path: '/a', from: {} }])(
    'is false for %j',
    (value) => {
      expect(isOperation(value)).toBe(false);
    },
  );

  it.each([null, {}, { op: 'eval', path: '/a' }, { op: 'move', path: '/a' }, { op: 'add', path: 'a' }])(
    'is true for %j, which cannot be carried out',
    (value) => {
      expect(isOperation(value)).toBe(true);
      if (!isOperation(value)) return;
      expect(() => applyOperation({ a: 1 }, value, free)).toThrow(OperationError);
    },
  );

  it('reads a missing value as null, and an index with leading zeros as the number', () => {
    const set = (path: string) => applyOperation({ list: [1] }, { op: 'add', path }, free);
    expect(set('/a')).toEqual({ list: [1], a: null });
    expect(set('/list/01')).toEqual({ list: [1, null] });
  });

  it('reads the longest pointer a body can hold', () => {
    expect(isOperation({ op: 'remove', path: '/a'.repeat(1_500_000) })).toBe(true);
  });
});
