import { describe, expect, it } from 'vitest';
import { parseBody } from './parse-body.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const yaml = (text: string) => parseBody(bytes(text), 'application/yaml').value;

describe('parseBody', () => {
  it('reads JSON and YAML alike', () => {
    expect(parseBody(bytes('{"a":[1]}'), '').value).toEqual({ a: [1] });
    expect(yaml('a: [1]\n')).toEqual({ a: [1] });
    expect(parseBody(new Uint8Array(), '').value).toBeUndefined();
    expect(yaml('{a: [1]}')).toEqual({ a: [1] });
  });

  it('finds keys named twice in JSON that is sent as YAML', () => {
    expect(parseBody(bytes('{"a":1,"a":2}'), 'application/apply-patch+yaml').duplicates).toEqual(['a']);
  });

  it.each([
    ['broken JSON', '{"a":', ''],
    ['bytes that are no UTF-8', '\udc00', 'latin'],
    ['nesting without end', '['.repeat(600) + ']'.repeat(600), ''],
    ['broken YAML', 'a: [1', 'application/yaml'],
    ['a key twice in YAML', 'a: 1\na: 2\n', 'application/yaml'],
    ['deep YAML', '['.repeat(20_000) + ']'.repeat(20_000), 'application/yaml'],
    ['a cycle', 'a: &x [*x]\n', 'application/yaml'],
    [
      'aliases that multiply',
      `a0: &a0 [x]\n${Array.from({ length: 12 }, (_, index) => `a${index + 1}: &a${index + 1} [${`*a${index},`.repeat(10)}]\n`).join('')}`,
      'application/yaml',
    ],
  ])('answers BadRequest to %s', (_what, text, type) => {
    const given = type === 'latin' ? new Uint8Array([0x22, 0xff, 0x22]) : bytes(text);
    expect(() => parseBody(given, type)).toThrowError(expect.objectContaining({ code: 'BadRequest' }));
  });

  it('replaces half a surrogate pair by U+FFFD', () => {
    const { value } = parseBody(bytes('{"a":"\\ud800","b":"\\ud83d\\ude00"}'), 'application/json');
    expect(value).toEqual({ a: '\ufffd', b: '\u{1f600}' });
  });

  it('drops __proto__ keys from YAML too', () => {
    expect(Object.keys(yaml('__proto__: {a: 1}\nb: 1\n') as object)).toEqual(['b']);
  });
});
