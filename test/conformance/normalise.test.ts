import { describe, expect, it } from 'vitest';
import { normalise } from './normalise.ts';

const answer = (body: unknown, variables: Record<string, string> = {}, headers = {}) => ({
  code: 200,
  headers: { 'content-type': 'application/json', ...headers },
  warnings: [],
  text: typeof body === 'string' ? body : JSON.stringify(body),
  variables: { ns: 'case-1', group: 'example.com', ...variables },
});
const bodyOf = (...given: Parameters<typeof answer>) => normalise(answer(...given), false).body;

describe('normalise', () => {
  it('replaces what differs between any two servers', () => {
    const metadata = {
      uid: '0b7f8f2c-8a3e-4b0c-9d1e-1f2a3b4c5d6e',
      namespace: 'case-1',
      resourceVersion: '17',
      creationTimestamp: '2026-01-01T00:00:00Z',
      managedFields: [],
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

  it('keeps managedFields where they are asked for', () => {
    expect(normalise(answer({ managedFields: [] }), true).body).toEqual([{ managedFields: [] }]);
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

  it('takes several warnings in one header for several', () => {
    const warnings = ['299 - "a", 299 - "b"'];
    expect(normalise({ ...answer({}), warnings }, false).warnings).toEqual(['299 - "a"', '299 - "b"']);
  });
});
