import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { fc } from '#shared/testing';
import { yamlLimit, yamlToJson } from './yaml-body.ts';

const limits = { depth: 500, size: 3_000_000 };
const read = (text: string): unknown => JSON.parse(yamlToJson(text, limits));
const refusal = (text: string): string => {
  try {
    return yamlToJson(text, limits);
  } catch (caught) {
    return caught instanceof Error ? caught.message : String(caught);
  }
};

describe('yamlToJson', () => {
  it('reads back what the library writes', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        expect(read(stringify(value, { aliasDuplicateObjects: false, version: '1.1' }))).toEqual(
          JSON.parse(JSON.stringify(value)),
        );
      }),
    );
  });

  it('reads anchors, block texts and keys that are not strings', () => {
    expect(read('a: &x {b: [1, yes]}\nc: *x\n1: |\n  two\n  lines\non: ~\n')).toEqual({
      a: { b: [1, true] },
      c: { b: [1, true] },
      1: 'two\nlines\n',
      true: null,
    });
    expect(read('&a x')).toBe('x');
    expect(read('a: &x {b: 1, c: 2}\nd: {c: 3, <<: *x}\n')).toEqual({ a: { b: 1, c: 2 }, d: { b: 1, c: 3 } });
    expect(read('- &a 1\n- &a 2\n- *a\n')).toEqual([1, 2, 2]);
    expect(yamlToJson('# nothing\n', limits)).toBe('');
  });

  it.each([
    ['a: [1', 'at line 1'],
    ['a:\n\t- b', 'Tabs are not allowed as indentation'],
    ['a: 1\na: 2\n', 'key "a" already set in map'],
    ['a: &x [*x]\n', "anchor 'x' value contains itself"],
    ['a: *nope\n', 'nope'],
    ['a: 1\n---\nb: 2\n', 'several documents: send one object in a request'],
    ['a: .nan\n', 'unsupported value: NaN'],
    ['? [a]\n: 1\n', 'a key must be a text'],
    ['['.repeat(600) + ']'.repeat(600), 'nested deeper than 500 levels'],
    ['['.repeat(100_000), 'nested deeper than 500 levels'],
    ['- '.repeat(100_000), 'nested deeper than 500 levels'],
    ['x'.repeat(yamlLimit + 1), 'Request entity too large: limit is 524288 for YAML'],
  ])('refuses %j', (text, words) => {
    expect(refusal(text)).toContain(words);
    expect(refusal(text)).not.toContain('\n');
  });

  it('refuses aliases that multiply before it expands them', () => {
    const names = [...'abcdefghijkl'];
    const bomb = names.map(
      (name, at) => `${name}: &${name} [${`*${names[at - 1] ?? name},`.repeat(at && 10)}]`,
    );
    expect(refusal(bomb.join('\n'))).toContain('its aliases stand for too much');
  });

  it('reads many keys and anchors in linear time', () => {
    const keys = Array.from({ length: 20_000 }, (_, index) => `k${index}: 1`).join('\n');
    expect(Object.keys(read(keys) as object)).toHaveLength(20_000);
    const anchors = Array.from({ length: 15_000 }, (_, index) => `- &a${index} 1\n- *a${index}`).join('\n');
    expect(read(anchors)).toHaveLength(30_000);
  });
});
