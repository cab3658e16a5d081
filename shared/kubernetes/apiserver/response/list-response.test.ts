import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { startTestServer, type TestServer, widget, widgets } from '../testing/test-server.ts';

const count = 1200;
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const partial = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  const annotations = { text: 'ä{"}\\'.repeat(100), 'a.example.com/b': '"}' };
  for (let at = 0; at < count; at += 100) {
    const names = Array.from({ length: 100 }, (_, more) => `w${String(at + more).padStart(4, '0')}`);
    await Promise.all(
      names.map((name) => server.call('POST', widgets, widget(name, { color: 'red' }, { annotations }))),
    );
  }
});
afterAll(() => server.close());

interface List {
  kind: string;
  metadata: { resourceVersion: string };
  items: { metadata: { name: string } }[];
  rows: { cells: unknown[]; object: { metadata: { name: string } } | null }[];
}

async function list(accept: string, query = '', coding = ''): Promise<{ response: Response; body: List }> {
  const headers = { accept, 'accept-encoding': coding };
  const response = await server.fetch(`${widgets}${query}`, { headers });
  const bytes = Buffer.from(await response.arrayBuffer());
  const isGzip = response.headers.get('content-encoding') === 'gzip';
  return { response, body: JSON.parse((isGzip ? gunzipSync(bytes) : bytes).toString()) as List };
}

describe('a list of several slices', () => {
  it('contains every object as GET returns it', async () => {
    const { body } = await list('application/json');
    expect(body.kind).toBe('WidgetList');
    expect(body.items).toHaveLength(count);
    for (const at of [0, 499, 500, count - 1])
      expect(body.items[at]).toEqual(
        (await server.call('GET', `${widgets}/${body.items[at]?.metadata.name}`)).body,
      );
  });

  it('is complete as metadata only', async () => {
    const whole = (await list('application/json')).body;
    const { body } = await list(partial);
    expect(body.kind).toBe('PartialObjectMetadataList');
    const { apiVersion, kind } = { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata' };
    expect(body.items).toEqual(whole.items.map(({ metadata }) => ({ kind, apiVersion, metadata })));
    expect(body.metadata).toEqual(whole.metadata);
  });

  it.each(['None', 'Metadata', 'Object'])(
    'is a Table whose rows carry %s, as those of one object',
    async (include) => {
      const { body } = await list(table, `?includeObject=${include}`);
      expect(body.rows).toHaveLength(count);
      for (const at of [0, 500, count - 1]) {
        const name = body.rows[at]?.cells[0];
        const single = await server.call('GET', `${widgets}/${name}?includeObject=${include}`, undefined, {
          accept: table,
        });
        const [row] = (single.body as unknown as List).rows;
        expect(body.rows[at]?.object).toEqual(row?.object);
        expect(body.rows[at]?.cells.slice(0, -1)).toEqual(row?.cells.slice(0, -1));
      }
    },
  );

  it('is the same in YAML, and indented', async () => {
    const plain = (await list('application/json')).body;
    expect((await list('application/json', '?pretty=1')).body).toEqual(plain);
    const yaml = await server.fetch(widgets, { headers: { accept: 'application/yaml' } });
    expect(parse(await yaml.text(), { version: '1.1' })).toEqual(plain);
    const rows = (await list(table, '?includeObject=None&pretty=1')).body.rows;
    expect(rows.map(({ cells }) => cells[0])).toEqual(plain.items.map(({ metadata }) => metadata.name));
  });

  it.each(['application/yaml', 'application/json'])(
    'is made as its reader takes it in %s, and so is a large object',
    async (accept) => {
      const free = { list: Array.from({ length: 9_000 }, (_, index) => ({ index })) };
      await server.call('POST', widgets, widget('zz-large', { free }));
      for (const path of [widgets, `${widgets}/zz-large`]) {
        const chunks: number[] = [];
        const response = await server.fetch(`${path}?pretty=1`, { headers: { accept } });
        for await (const chunk of response.body ?? []) chunks.push(chunk.byteLength);
        expect(chunks.length).toBeGreaterThan(2);
        expect(Math.max(...chunks)).toBeLessThan(50_000);
      }
      await server.call('DELETE', `${widgets}/zz-large`);
    },
  );

  it('is compressed for clients that accept gzip', async () => {
    const plain = await list('application/json');
    expect(plain.response.headers.get('content-encoding')).toBeNull();
    const { response, body } = await list('application/json', '', 'deflate, gzip');
    expect(response.headers.get('content-encoding')).toBe('gzip');
    expect(response.headers.get('vary')).toBe('Accept-Encoding');
    expect(body).toEqual(plain.body);
    const short = await list('application/json', '?limit=10', 'gzip');
    expect(short.response.headers.get('content-encoding')).toBeNull();
    const watch = await server.fetch(`${widgets}?watch=1&timeoutSeconds=1`, {
      headers: { 'accept-encoding': 'gzip' },
    });
    expect(watch.headers.get('content-encoding')).toBeNull();
    await watch.body?.cancel();
  });

  it('lets other requests run while it is made', async () => {
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    });
    const response = await server.fetch(widgets);
    for await (const _slice of response.body ?? []) await new Promise((resolve) => setImmediate(resolve));
    clearInterval(timer);
    expect(turns).toBeGreaterThan(0);
  });
});
