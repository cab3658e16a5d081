import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  group,
  linesOf,
  mergeType,
  namespace,
  startTestServer,
  type TestServer,
  widget,
  widgets,
} from '../testing/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await server.call('POST', widgets, widget('sound'));
  await server.call('POST', '/api/v1/namespaces', namespace('elsewhere'));
  await server.call('POST', widgets.replace('/ns/', '/elsewhere/'), widget('other'));
});
afterAll(() => server.close());

const head = `{"apiVersion":"${group}/v1","kind":"Widget","metadata":{"name":"damaged"`;
const values: [string, string | Uint8Array][] = [
  ['nothing', ''],
  ['bytes of something else', Buffer.from([0x6b, 0x38, 0x73, 0x00, 0xff, 0xfe, 0x00])],
  ['half an object', `${head},"namespace":"ns"},"spec":{"color":"hunter2`],
  ['JSON that is no object', '[5]'],
  ['null', 'null'],
  ['an object without metadata', '{"spec":{"color":"hunter2"}}'],
  ['metadata of another type', `{"apiVersion":"${group}/v1","kind":"Widget","metadata":"hunter2"}`],
  [
    'another kind',
    '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"damaged"},"data":{"a":"hunter2"}}',
  ],
  ['a hundred thousand levels', '['.repeat(100_000)],
];

describe('a stored value that is damaged', () => {
  it.each(values)(
    '(%s) fails only requests that need it; the message names the key and shows no content',
    async (_what, value) => {
      const key = '/registry/test.example.com/widgets/ns/damaged';
      const before = (await server.call('GET', widgets)).body.metadata.resourceVersion;
      const written = await server.store.create(key, Buffer.from(value));
      if (!written.ok) throw new Error('there is one already');

      for (const headers of [{}, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }]) {
        const { status, text, body } = await server.call('GET', widgets, undefined, headers);
        expect([status, body.reason]).toEqual([500, 'InternalError']);
        expect(text).not.toContain('hunter2');
      }
      const patched = await server.call('PATCH', `${widgets}/damaged`, { spec: { size: 1 } }, mergeType);
      // Valid JSON of another kind is not a Widget and cannot be patched.
      expect([422, 500]).toContain(patched.status);
      expect(patched.text).not.toContain('hunter2');

      const watch = await server.fetch(`${widgets}?watch=true&resourceVersion=${before}&timeoutSeconds=5`);
      const lines = [];
      for await (const line of linesOf(watch)) lines.push(line);
      expect(lines).toMatchObject([{ type: 'ERROR', object: { kind: 'Status', code: 500 } }]);

      expect((await server.call('GET', `${widgets}/sound`)).status).toBe(200);
      const elsewhere = await server.call('GET', widgets.replace('/ns/', '/elsewhere/'));
      expect(elsewhere.body.items).toHaveLength(1);
      expect((await server.call('POST', widgets, widget('fresh'))).status).toBe(201);
      expect((await server.call('DELETE', `${widgets}/fresh`)).status).toBe(200);

      await server.store.delete(key, written.revision);
      expect((await server.call('GET', widgets)).body.items).toHaveLength(1);
    },
  );
});
