import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { attacked, many, nested, orders, refused } from './attacked.ts';

const server = attacked();
const yaml = (body: string) => server.post(body, { type: 'application/yaml' });

describe('bodies that are no object', () => {
  it.each<[string, string | Uint8Array, RegExp]>([
    ['nothing', '', /must be an object/],
    ['null', 'null', /must be an object/],
    ['a list', '[]', /must be an object/],
    ['a number', '5', /must be an object/],
    ['an empty object', '{}', /'Kind' is missing/],
    ['half an object', '{"apiVersion":', /not valid JSON/],
    ['text', 'hello', /not valid JSON/],
    ['UTF-16', Buffer.from('{"a":1}', 'utf16le'), /not valid JSON/],
    [
      'bytes that are no UTF-8',
      Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
      /not valid UTF-8/,
    ],
    ['10,000 levels', nested(10_000), /nested deeper than 500 levels/],
    ['1,400,000 levels', nested(1_400_000), /nested deeper than 500 levels/],
    ['levels without an end', '{"a":'.repeat(500_000), /nested deeper than 500 levels/],
  ])('%s is refused', async (_what, body, words) => {
    expect(refused(await server.send('POST', orders, { body }), 400).message).toMatch(words);
  });

  it.each<[string, string, number, RegExp]>([
    ['broken', ': : [', 400, /error converting YAML to JSON/],
    ['self-containing', 'a: &a [*a]', 400, /contains itself/],
    ['several documents', 'a: 1\n---\nb: 2', 400, /several documents/],
    ['repeating a key', 'a: 1\na: 2', 400, /key "a" already set in map/],
    ['deep', nested(10_000), 400, /nested deeper than 500 levels/],
    [
      'full of aliases',
      many(9, (at) => `k${at}: &k${at} [${`*k${at - 1},`.repeat(at && 10)}x]`).join('\n'),
      400,
      /./,
    ],
    ['of 10,000 keys', many(10_000, (at) => `k${at}: 1`).join('\n'), 400, /'Kind' is missing/],
    ['of 30,000 keys', many(30_000, (at) => `k${at}: 1`).join('\n'), 413, /limit is 262144 for YAML/],
    ['of 4,900 anchors', many(4_900, (at) => `- &a${at} 1\n- *a${at}`).join('\n'), 400, /must be an object/],
    ['too large', '#'.repeat(600_000), 413, /limit is 262144 for YAML/],
  ])('YAML that is %s is refused', async (_what, body, code, words) => {
    expect(refused(await yaml(body), code).message).toMatch(words);
  });

  it.each<[string, string]>([
    ['nothing', ''],
    ['the mark alone', 'k8s\0'],
    ['an endless number', `k8s\0${'\xff'.repeat(20)}`],
    ['a field longer than the body', 'k8s\0\x0a\xff\xff\xff\xff\x7f'],
    ['a message in a text', 'k8s\0\x0a\x04\x0a\x02v1'],
  ])('protobuf of %s is refused', async (_what, bytes) => {
    const sent = { body: Buffer.from(bytes, 'latin1'), type: 'application/vnd.kubernetes.protobuf' };
    refused(await server.send('POST', '/api/v1/namespaces/default/secrets', sent), 400);
    refused(await server.send('POST', orders, sent), 415);
  });

  it.each(['text/xml', 'application/x-www-form-urlencoded', 'application/cbor', ';;;,', 'json'])(
    'the content type %s is refused, naming those there are',
    async (type) => {
      expect(refused(await server.post('{}', { type }), 415).message).toContain('application/json');
    },
  );

  it('compressed bodies are refused', async () => {
    const body = gzipSync(Buffer.alloc(50_000_000));
    const answer = await server.send('POST', orders, { body, headers: { 'content-encoding': 'gzip' } });
    expect(refused(answer, 415).message).toContain('"gzip"');
  });

  it.each([false, true])(
    'more than 3 MiB are refused and the client can go on (chunked: %s)',
    async (chunked) => {
      const body = `{"a":"${'x'.repeat(4_000_000)}"}`;
      refused(await server.send('POST', orders, { body, chunked }), 413);
      expect((await server.send('GET', `${orders}/target`)).code).toBe(200);
    },
  );
});
