import { describe, expect, it } from 'vitest';
import { parseBody } from './parse-body.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const parsed = async (text: string, type = '') => (await parseBody(bytes(text), type)).value;
const yaml = (text: string) => parsed(text, 'application/yaml');

describe('parseBody', () => {
  it('reads JSON and YAML alike', async () => {
    expect(await parsed('{"a":[1]}')).toEqual({ a: [1] });
    expect(await yaml('a: [1]\n')).toEqual({ a: [1] });
    expect(await parsed('')).toBeUndefined();
    expect(await yaml('{a: [1]}')).toEqual({ a: [1] });
  });

  it('finds keys named twice in JSON that is sent as YAML', async () => {
    const body = await parseBody(bytes('{"a":1,"a":2}'), 'application/apply-patch+yaml');
    expect(body.duplicates).toEqual(['a']);
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
  ])('rejects %s with BadRequest', async (_what, text, type) => {
    const given = type === 'latin' ? new Uint8Array([0x22, 0xff, 0x22]) : bytes(text);
    await expect(parseBody(given, type)).rejects.toMatchObject({ code: 'BadRequest' });
  });

  it.each([
    ['{"a":"\\ud800","b":"\\ud83d\\ude00"}', { a: '\ufffd', b: '\u{1f600}' }],
    ['{"\\udc00x":"\\ud800\\ud83d\\ude00"}', { '\ufffdx': '\ufffd\u{1f600}' }],
    ['{"a":"\\\\ud800","b":"\\\\\\ud800"}', { a: '\\ud800', b: '\\\ufffd' }],
  ])('replaces half a surrogate pair by U+FFFD, in keys too: %s', async (text, value) => {
    expect(await parsed(text)).toEqual(value);
  });

  it('refuses whole numbers that cannot be kept, in YAML as in JSON, and names the field', async () => {
    for (const text of [
      'spec:\n  sizes: [1, 9007199254740993]\n',
      'spec: {sizes: [1, 0x20000000000001]}',
      '{"spec":{"sizes":[1,9007199254740993]}}',
    ])
      await expect(yaml(text)).rejects.toMatchObject({
        code: 'BadRequest',
        message: expect.stringContaining(
          'the number 9007199254740993 at spec.sizes[1] exceeds the precision',
        ),
      });
    expect(await yaml('a: 9007199254740992\nb: 1e21\nc: 18446744073709551616\n')).toEqual({
      a: 2 ** 53,
      b: 1e21,
      c: 2 ** 64,
    });
  });

  it('refuses a field __proto__ in any form, and keeps constructor', async () => {
    const refused = { code: 'BadRequest', message: expect.stringContaining('__proto__') };
    for (const text of ['{"__proto__":{"a":1}}', '{"b":[{"\\u005f_proto__":1}]}'])
      await expect(parsed(text)).rejects.toMatchObject(refused);
    await expect(yaml('__proto__: {a: 1}\nb: 1\n')).rejects.toMatchObject(refused);
    expect(Object.entries((await parsed('{"constructor":1,"toString":2}')) as object)).toEqual([
      ['constructor', 1],
      ['toString', 2],
    ]);
  });

  it('refuses numbers beyond float64, not texts of many digits', async () => {
    await expect(parsed(`{"a":[1e999]}`)).rejects.toMatchObject({ code: 'BadRequest' });
    await expect(parsed(`[${'1'.repeat(310)}]`)).rejects.toMatchObject({ code: 'BadRequest' });
    expect(await parsed(`["${'1'.repeat(310)}",1e100,"x, 1e999"]`)).toHaveLength(3);
  });

  it('refuses whole numbers that would be stored as others, and names them', async () => {
    const refused = {
      code: 'BadRequest',
      message: expect.stringContaining('number 9007199254740993 at a[1].b '),
    };
    await expect(parsed('{"a":[9007199254740992,{"b": -9007199254740993 }]}')).rejects.toMatchObject(refused);
    await expect(parsed('{"a":[0,{"b":9007199254740993}],"c":9007199254740995}')).rejects.toMatchObject(
      refused,
    );
    // As kube-apiserver rounds what is beyond int64; and a rounded number can be sent again.
    const kept =
      '{"a":[123456789012345678000,9223372036854775807e1,0.1234567890123456789,12345678901234567000]}';
    expect(await parsed(kept)).toEqual(JSON.parse(kept));
    expect(await parsed('{"a":"9007199254740993, 9007199254740993"}')).toBeDefined();
  });

  it('rejects too many fields and items, in total or in one object or list', async () => {
    const refused = { code: 'RequestEntityTooLarge' };
    const fields = (count: number) => `{${Array.from({ length: count }, (_, at) => `"k${at}":1`).join()}}`;
    expect(Object.keys((await parsed(fields(10_000))) as object)).toHaveLength(10_000);
    await expect(parsed(fields(10_001))).rejects.toMatchObject(refused);
    expect(await parsed(`{"a":[${'0,'.repeat(9_999)}0]}`)).toMatchObject({ a: { length: 10_000 } });
    await expect(parsed(`{"a":[${'0,'.repeat(10_000)}0]}`)).rejects.toMatchObject(refused);
    // A JSON patch says itself that it has too many operations.
    expect(await parsed(`[${'0,'.repeat(10_000)}0]`)).toHaveLength(10_001);
    await expect(parsed(`[${`[${'0,'.repeat(9_000)}0],`.repeat(12)}0]`)).rejects.toMatchObject(refused);
    await expect(parsed('[{},'.repeat(400))).rejects.toMatchObject({ code: 'BadRequest' });
    await expect(parsed(`[${'{},'.repeat(50_001)}0]`)).rejects.toMatchObject(refused);
  });
});
