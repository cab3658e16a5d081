import { describe, expect, it } from 'vitest';
import { normalise } from './normalise.ts';

const answer = (body: unknown, variables: Record<string, string> = {}, headers = {}) => ({
  code: 200,
  headers: { 'content-type': 'application/json', ...headers },
  warnings: [],
  text: typeof body === 'string' ? body : JSON.stringify(body),
  variables: { ns: 'case-1', group: 'example.com', ...variables },
  ofLists: new Set(Object.keys(variables).filter((name) => name.startsWith('list'))),
});
const bodyOf = (...given: Parameters<typeof answer>) => normalise(answer(...given)).body;

describe('normalise', () => {
  it('replaces values that differ between any two servers', () => {
    const metadata = {
      uid: '0b7f8f2c-8a3e-4b0c-9d1e-1f2a3b4c5d6e',
      namespace: 'case-1',
      resourceVersion: '17',
      creationTimestamp: '2026-01-01T00:00:00Z',
      continue: '',
    };
    expect(bodyOf({ apiVersion: 'example.com/v1', metadata })).toEqual([
      {
        apiVersion: '<group>/v1',
        metadata: {
          uid: '<uid>',
          namespace: '<ns>',
          resourceVersion: '<revision>',
          creationTimestamp: '<time>',
        },
      },
    ]);
  });

  it('keeps the name of a captured revision', () => {
    expect(bodyOf({ resourceVersion: '17' }, { rv: '17' })).toEqual([{ resourceVersion: '<rv>' }]);
  });

  it('gives a revision the name an object was captured under, not a list', () => {
    const body = { resourceVersion: '17' };
    expect(bodyOf(body, { rv: '17', list: '17' })).toEqual([{ resourceVersion: '<rv>' }]);
    expect(bodyOf(body, { list: '17' })).toEqual([{ resourceVersion: '<revision>' }]);
  });

  it('orders managedFields by owner, whenever they were written', () => {
    const first = { manager: 'a', operation: 'Update', time: '2026-01-01T00:00:01Z' };
    const second = { manager: 'b', operation: 'Update', time: '2026-01-01T00:00:00Z' };
    expect(bodyOf({ managedFields: [second, first] })).toEqual(bodyOf({ managedFields: [first, second] }));
  });

  it('reads a watch line by line, YAML, and plain text', () => {
    expect(bodyOf('{"a":1}\n{"b":2}\n')).toEqual([{ a: 1 }, { b: 2 }]);
    expect(bodyOf('a: 1\n', {}, { 'content-type': 'application/yaml' })).toEqual([{ a: 1 }]);
    expect(bodyOf('404 page not found\n')).toEqual(['404 page not found\n']);
  });

  it('hides the random end of a generated name, also of a long one', () => {
    expect(bodyOf({ generateName: 'a-', name: 'a-x7k2p' })).toEqual([
      { generateName: 'a-', name: 'a-<random>' },
    ]);
    const generateName = 'x'.repeat(70);
    const name = `${'x'.repeat(58)}x7k2p`;
    expect(bodyOf({ generateName, name })).toEqual([{ generateName, name: `${generateName}<random>` }]);
  });

  it('orders causes, drops repeated ones, and orders the list in the message', () => {
    const causes = [{ field: 'b' }, { field: 'a' }, { field: 'b' }];
    expect(bodyOf({ kind: 'Status', message: 'x is invalid: [b, a]', details: { causes } })).toEqual([
      {
        kind: 'Status',
        message: 'x is invalid: [a, b]',
        details: { causes: [{ field: 'a' }, { field: 'b' }] },
      },
    ]);
  });

  it('treats the lines of several errors in any order as equal', () => {
    const body = (...errors: string[]) => ({
      kind: 'Status',
      message: `failed to create typed patch object (x): errors:\n${errors.map((one) => `  .spec.${one}`).join('\n')}`,
    });
    expect(bodyOf(body('a: twice', 'b: twice'))).toEqual(bodyOf(body('b: twice', 'a: twice')));
    expect(bodyOf(body('a: twice', 'b: twice'))).not.toEqual(bodyOf(body('a: twice', 'c: twice')));
  });

  it('takes several warnings in one header for several', () => {
    const warnings = ['299 - "a", 299 - "b"'];
    expect(normalise({ ...answer({}), warnings }).warnings).toEqual(['299 - "a"', '299 - "b"']);
  });
});
