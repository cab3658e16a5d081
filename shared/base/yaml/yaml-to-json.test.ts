import { describe, expect, it } from 'vitest';
import { Document, Scalar, visit } from 'yaml';
import { fc } from '#shared/base/testing';
import { yamlToJson } from './yaml-to-json.ts';

const limits = { what: 'the body', characters: 256 * 1024, depth: 500, size: 3_000_000 };
const read = async (text: string): Promise<unknown> => JSON.parse(await yamlToJson(text, limits));
/** What the library writes, with quotes around the texts that go-yaml reads as numbers and the library does not, such as -_0. */
function written(value: unknown): string {
  const document = new Document(value, { aliasDuplicateObjects: false, version: '1.1' });
  visit(document, {
    Scalar(_, scalar) {
      if (typeof scalar.value === 'string' && /^[-+.0-9].*_/.test(scalar.value))
        scalar.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return document.toString();
}
const refusal = async (text: string): Promise<string> => {
  try {
    return await yamlToJson(text, limits);
  } catch (caught) {
    return caught instanceof Error ? caught.message : String(caught);
  }
};

describe('yamlToJson', () => {
  it('reads back what the library writes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 4 }), async (value) => {
        expect(await read(written(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
      { examples: [['-_0'], [{ '0_x1': '1_e3' }]] },
    );
  });

  it('reads anchors, block texts and keys that are not strings', async () => {
    expect(await read('a: &x {b: [1, yes]}\nc: *x\n1: |\n  two\n  lines\non: ~\n')).toEqual({
      a: { b: [1, true] },
      c: { b: [1, true] },
      1: 'two\nlines\n',
      true: null,
    });
    expect(await read('&a x')).toBe('x');
    expect(await read('a: &x {b: 1, c: 2}\nd: {c: 3, <<: *x}\n')).toEqual({
      a: { b: 1, c: 2 },
      d: { b: 1, c: 3 },
    });
    expect(await read('- &a 1\n- &a 2\n- *a\n')).toEqual([1, 2, 2]);
    expect(await yamlToJson('# nothing\n', limits)).toBe('');
  });

  it.each([
    ['at line 1', 'a: [1'],
    ['Tabs are not allowed as indentation', 'a:\n\t- b'],
    ['key "a" already set in map', 'a: 1\na: 2\n'],
    ["anchor 'x' value contains itself", 'a: &x [*x]\n'],
    ['nope', 'a: *nope\n'],
    ['the body holds several documents, and only one can be read', 'a: 1\n---\nb: 2\n'],
    ['unsupported value: NaN', 'a: .nan\n'],
    ['a key must be a text', '? [a]\n: 1\n'],
    ['nested deeper than 500 levels', '['.repeat(600) + ']'.repeat(600)],
    ['nested deeper than 500 levels', '['.repeat(100_000)],
    ['too many words and marks for YAML', 'a: [b,c]\n'.repeat(29_000)],
    ['nested deeper than 500 levels', '- '.repeat(50_000)],
    ['Request entity too large: limit is 262144 for YAML', 'x'.repeat(limits.characters + 1)],
  ])('refuses with: %s', async (words, text) => {
    expect(await refusal(text)).toContain(words);
    expect(await refusal(text)).not.toContain('\n');
  });

  it('writes whole numbers with all their digits, as values and as keys', async () => {
    const text = 'a: &big 9007199254740993\nb: [0x7fffffffffffffff, *big]\n9007199254740993: 1e3\n';
    expect(await yamlToJson(text, limits)).toBe(
      '{"a":9007199254740993,"b":[9223372036854775807,9007199254740993],"9007199254740993":1000}',
    );
  });

  it('takes the last of repeated keys where it is lenient', async () => {
    expect(JSON.parse(await yamlToJson('a: 1\nb: 2\na: 3\n', { ...limits, lenient: true }))).toEqual({
      a: 3,
      b: 2,
    });
  });

  it('refuses aliases that multiply before it expands them', async () => {
    const names = [...'abcdefghijkl'];
    const bomb = names.map(
      (name, at) => `${name}: &${name} [${`*${names[at - 1] ?? name},`.repeat(at && 10)}]`,
    );
    expect(await refusal(bomb.join('\n'))).toContain('its aliases stand for too much');
  });

  it('reads many keys and anchors in linear time', async () => {
    const keys = Array.from({ length: 20_000 }, (_, index) => `k${index}: 1`).join('\n');
    expect(Object.keys((await read(keys)) as object)).toHaveLength(20_000);
    const anchors = Array.from({ length: 8_000 }, (_, index) => `- &a${index} 1\n- *a${index}`).join('\n');
    expect(await read(anchors)).toHaveLength(16_000);
  });
});
