import type { RequestListener } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '#shared/base/meta';
import type { Kind } from './client.ts';
import { createKubeClient } from './create-client.ts';
import {
  answer,
  bodyOf,
  collect,
  type Loopback,
  startLoopback,
  statusBody,
  until,
} from './testing/loopback.ts';

const secrets: Kind = { apiVersion: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true };
const key = { name: 'a', namespace: 'n' };
const object: KubeObject = { apiVersion: 'v1', kind: 'Secret', metadata: { ...key, resourceVersion: '7' } };

let server: Loopback | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

async function clientOf(listener: RequestListener, options: { deadlineMs?: number } = {}) {
  server = await startLoopback(listener);
  return createKubeClient({ server: server.url, token: () => 't0ken', userAgent: 'unit', ...options });
}

interface Seen {
  line: string;
  headers: Record<string, unknown>;
  body: unknown;
}

/** A server that notes what it is asked and answers each request with the same. */
function recorder(status: number, body: unknown, headers = {}) {
  const seen: Seen[] = [];
  const listener: RequestListener = (request, response) => {
    void bodyOf(request).then((text) => {
      const line = `${request.method} ${request.url}`;
      seen.push({ line, headers: request.headers, body: text === '' ? undefined : JSON.parse(text) });
      answer(response, status, body, headers);
    });
  };
  return { seen, listener };
}

describe('requests', () => {
  it('read at most limitBytes of a log, and report why it is missing', async () => {
    const lines: (string | undefined)[] = [];
    const client = await clientOf((request, response) => {
      lines.push(request.url);
      if (request.url?.includes('gone'))
        answer(response, 404, statusBody(404, 'NotFound', 'gone', { name: 'gone' }));
      else response.writeHead(200, { 'content-type': 'text/plain' }).end('é'.repeat(100_000));
    });
    const options = { container: 'main', tailLines: 30, limitBytes: 10 };
    expect(await client.log(key, options)).toBe('ééééé');
    expect(lines).toEqual(['/api/v1/namespaces/n/pods/a/log?container=main&tailLines=30&limitBytes=10']);
    await expect(client.log({ ...key, name: 'gone' }, options)).rejects.toMatchObject({ code: 'NotFound' });
  });

  it('carry the user agent and follow the Kubernetes API', async () => {
    const { seen, listener } = recorder(200, object);
    const client = await clientOf(listener);
    expect(await client.get(secrets, key)).toEqual(object);
    await client.create(secrets, object);
    await client.replace(secrets, object);
    await client.mergePatch(secrets, key, { data: null });
    await client.mergePatch(secrets, key, { status: {} }, { subresource: 'status' });
    expect(await client.delete(secrets, key, { uid: 'u', resourceVersion: '7' })).toBe(true);
    expect(await client.delete(secrets, key, { propagationPolicy: 'Foreground' })).toBe(true);
    const path = '/api/v1/namespaces/n/secrets';
    expect(seen.map(({ line }) => line)).toEqual([
      `GET ${path}/a`,
      `POST ${path}`,
      `PUT ${path}/a`,
      `PATCH ${path}/a`,
      `PATCH ${path}/a/status`,
      `DELETE ${path}/a`,
      `DELETE ${path}/a`,
    ]);
    expect(seen[0]?.headers).toMatchObject({
      authorization: 'Bearer t0ken',
      'user-agent': 'unit',
      accept: 'application/json',
    });
    expect(seen[3]).toMatchObject({
      headers: { 'content-type': 'application/merge-patch+json' },
      body: { data: null },
    });
    expect(seen[5]?.body).toMatchObject({
      propagationPolicy: 'Background',
      preconditions: { uid: 'u', resourceVersion: '7' },
    });
    expect(seen[6]?.body).toEqual({
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      propagationPolicy: 'Foreground',
    });
  });

  it('for the metadata of an object ask for no more', async () => {
    const { seen, listener } = recorder(200, {
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata: key,
    });
    const client = await clientOf(listener);
    expect(await client.getMetadata(secrets, key)).toMatchObject({
      kind: 'Secret',
      apiVersion: 'v1',
      metadata: key,
    });
    expect(seen[0]).toMatchObject({
      line: 'GET /api/v1/namespaces/n/secrets/a',
      headers: { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' },
    });
    await client.getMetadata(secrets, { ...key, notOlderThan: '7' });
    expect(seen[1]?.line).toBe('GET /api/v1/namespaces/n/secrets/a?resourceVersion=7');
  });

  it('read the token before each request', async () => {
    const { seen, listener } = recorder(200, object);
    server = await startLoopback(listener);
    let turn = 0;
    const token = async () => `t${++turn}`;
    const client = createKubeClient({ server: server.url, token, userAgent: 'unit' });
    await client.get(secrets, key);
    await client.get(secrets, key);
    expect(seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer t1', 'Bearer t2']);
  });

  it('carry the trace context of a traced client, and none otherwise', async () => {
    const { seen, listener } = recorder(200, object);
    const client = await clientOf(listener);
    const trace = {
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      tracestate: 'a=b',
    };
    await client.traced(trace).get(secrets, key);
    await client.traced({ traceparent: trace.traceparent }).create(secrets, object);
    await client.get(secrets, key);
    expect(
      seen.map(({ headers: { authorization, traceparent, tracestate } }) => [
        authorization,
        traceparent,
        tracestate,
      ]),
    ).toEqual([
      ['Bearer t0ken', trace.traceparent, 'a=b'],
      ['Bearer t0ken', trace.traceparent, undefined],
      ['Bearer t0ken', undefined, undefined],
    ]);
  });
});

describe('answers', () => {
  it('for a missing object are values; for an unknown kind they are an error', async () => {
    const absent = statusBody(404, 'NotFound', 'secrets "a" not found', { name: 'a', kind: 'secrets' });
    const client = await clientOf(recorder(404, absent).listener);
    expect(await client.get(secrets, key)).toBeUndefined();
    expect(await client.delete(secrets, key)).toBe(false);
    await expect(client.replace(secrets, object)).rejects.toMatchObject({ code: 'NotFound' });
    await server?.close();
    const unknown = await clientOf((_, response) => void response.writeHead(404).end('404 page not found\n'));
    await expect(unknown.get(secrets, key)).rejects.toMatchObject({ code: 'NotFound' });
    await expect(unknown.delete(secrets, key)).rejects.toMatchObject({ code: 'NotFound' });
  });

  it('with a failure carry its code and details', async () => {
    const conflict = statusBody(409, 'Conflict', 'the object has been modified', {
      name: 'a',
      kind: 'secrets',
    });
    const client = await clientOf(recorder(409, conflict).listener);
    await expect(client.replace(secrets, object)).rejects.toMatchObject({
      code: 'Conflict',
      message: 'the object has been modified',
      details: { name: 'a', kind: 'secrets' },
    });
  });

  it.each([
    ['nothing', ''],
    ['a page', '<html>'],
    ['a list', '[]'],
    ['an object without metadata', '{}'],
  ])('that are %s are an InternalError', async (_, body) => {
    const client = await clientOf((_request, response) => void response.end(body));
    await expect(client.get(secrets, key)).rejects.toMatchObject({ code: 'InternalError' });
    await expect(client.list(secrets)).rejects.toMatchObject({ code: 'InternalError' });
  });

  it('with a redirect are refused: the token goes to no other server', async () => {
    const { seen, listener } = recorder(307, {}, { location: '/elsewhere' });
    const client = await clientOf(listener);
    await expect(client.get(secrets, key)).rejects.toMatchObject({ code: 'ServiceUnavailable' });
    expect(seen).toHaveLength(1);
  });
});

describe('failures of the network', () => {
  it('are ServiceUnavailable, naming the server and the reason but not the token', async () => {
    const client = await clientOf(() => undefined);
    await server?.close();
    const failure = client.get(secrets, key);
    await expect(failure).rejects.toMatchObject({
      code: 'ServiceUnavailable',
      message: expect.stringMatching(/cannot reach the API server at http:\/\/127.*ECONNREFUSED/),
    });
    await expect(failure).rejects.not.toThrow(/t0ken/);
  });

  it('in the middle of a body are ServiceUnavailable', async () => {
    const client = await clientOf((_, response) => {
      response.writeHead(200, { 'content-length': 1000 });
      response.write('{"metadata"', () => response.destroy());
    });
    await expect(client.get(secrets, key)).rejects.toMatchObject({ code: 'ServiceUnavailable' });
  });

  it.each([
    ['before the answer', () => undefined],
    ['in the body', (_: unknown, response: { write(text: string): unknown }) => void response.write('{')],
  ])('by silence %s are Timeout', async (_, listener) => {
    const client = await clientOf(listener as RequestListener, { deadlineMs: 50 });
    await expect(client.get(secrets, key)).rejects.toMatchObject({ code: 'Timeout' });
  });

  it('after an abort carry the reason of the caller', async () => {
    const control = new AbortController();
    const client = await clientOf(() => control.abort());
    await expect(client.get(secrets, key, control.signal)).rejects.toMatchObject({
      code: 'Timeout',
      message: expect.stringMatching(/cancelled/),
    });
  });
});

describe('list', () => {
  const page = (names: string[], next?: string) => ({
    metadata: { resourceVersion: '40', ...(next !== undefined && { continue: next }) },
    items: names.map((name) => ({ metadata: { name, namespace: 'n' }, data: {} })),
  });

  it('reads all pages, and puts apiVersion and kind on the items of a typed list', async () => {
    const asked: string[] = [];
    const client = await clientOf((request, response) => {
      asked.push(request.url ?? '');
      answer(response, 200, request.url?.includes('continue=n%2Fb') ? page(['c']) : page(['a', 'b'], 'n/b'));
    });
    const all = await client.list(secrets, { labelSelector: 'x=y' });
    expect(all.items.map((item) => [item.kind, item.metadata.name])).toEqual([
      ['Secret', 'a'],
      ['Secret', 'b'],
      ['Secret', 'c'],
    ]);
    expect(all).toMatchObject({ resourceVersion: '40' });
    expect(all.continue).toBeUndefined();
    expect(asked).toEqual([
      '/api/v1/secrets?labelSelector=x%3Dy&limit=500',
      '/api/v1/secrets?labelSelector=x%3Dy&limit=500&continue=n%2Fb',
    ]);
  });

  it('reads smaller pages of large objects, and rejects before they exhaust the memory', async () => {
    const mebibyte = 2 ** 20;
    const sizes = Array.from({ length: 40 }, () => mebibyte);
    const asked: number[] = [];
    const client = await clientOf((request, response) => {
      const query = new URL(request.url ?? '', 'http://unit').searchParams;
      const [from, limit] = [Number(query.get('continue') ?? 0), Number(query.get('limit'))];
      asked.push(limit);
      const items = sizes.slice(from, from + limit).map((size, at) => ({
        metadata: { name: `s${from + at}`, namespace: 'n' },
        data: { a: 'x'.repeat(size) },
      }));
      const next = from + limit < sizes.length ? { continue: String(from + limit) } : {};
      answer(response, 200, { metadata: { resourceVersion: '40', ...next }, items });
    });
    const names = (await client.list(secrets, { maxBytes: 41 * mebibyte })).items.map(
      ({ metadata }) => metadata.name,
    );
    expect(names).toEqual(sizes.map((_, at) => `s${at}`));
    expect(asked.slice(0, 3)).toEqual([500, 63, 8]);
    await expect(client.list(secrets, { namespace: 'n', maxBytes: 10 * mebibyte })).rejects.toMatchObject({
      code: 'RequestEntityTooLarge',
      message: 'the selected secrets of namespace n are more than 10 MiB: delete some, or their annotations',
    });
  });

  it('reads one page when a limit is given', async () => {
    const client = await clientOf((_, response) => answer(response, 200, page(['a'], 'more')));
    expect(await client.list(secrets, { limit: 1 })).toMatchObject({
      continue: 'more',
      resourceVersion: '40',
    });
  });

  it('rejects with Expired when history goes away between pages', async () => {
    const client = await clientOf((request, response) => {
      if (request.url?.includes('continue=')) answer(response, 410, statusBody(410, 'Expired', 'too old'));
      else answer(response, 200, page(['a'], 'more'));
    });
    await expect(client.list(secrets)).rejects.toMatchObject({ code: 'Expired' });
  });
});

describe('watch', () => {
  const added = (name: string, rv: string) =>
    `${JSON.stringify({ type: 'ADDED', object: { ...object, metadata: { name, namespace: 'n', resourceVersion: rv } } })}\n`;
  const from = { resourceVersion: '5' };
  const endless = new AbortController().signal;

  it('requests bookmarks and yields events, even if a character is split between chunks', async () => {
    let asked = '';
    const client = await clientOf((request, response) => {
      asked = request.url ?? '';
      const bytes = Buffer.from(added('ä', '6'));
      const cut = bytes.indexOf(0xc3) + 1;
      response.write(bytes.subarray(0, cut), () => setImmediate(() => response.end(bytes.subarray(cut))));
    });
    const events = await collect(
      client.watch(secrets, { ...from, namespace: 'n', timeoutSeconds: 9 }, endless),
    );
    expect(events).toMatchObject([{ type: 'ADDED', object: { metadata: { name: 'ä' } } }]);
    expect(asked).toBe(
      '/api/v1/namespaces/n/secrets?watch=true&allowWatchBookmarks=true&resourceVersion=5&timeoutSeconds=9',
    );
  });

  it('closes the connection when the caller stops reading', async () => {
    const closed = { count: 0 };
    const client = await clientOf((_, response) => {
      response.on('close', () => {
        closed.count += 1;
      });
      response.write(added('a', '6'));
    });
    for await (const event of client.watch(secrets, from, endless)) {
      expect(event.type).toBe('ADDED');
      break;
    }
    const control = new AbortController();
    for await (const _ of client.watch(secrets, from, control.signal)) control.abort();
    await until('both connections closed', () => closed.count === 2);
  });

  it('ends without an error when its signal is already aborted', async () => {
    const client = await clientOf(() => undefined);
    expect(await collect(client.watch(secrets, from, AbortSignal.abort()))).toEqual([]);
  });

  it('rejects with Expired for a 410 and for an ERROR event in the stream', async () => {
    const gone = statusBody(410, 'Expired', 'too old resource version');
    const client = await clientOf((request, response) => {
      if (request.url?.includes('resourceVersion=1&') || request.url?.endsWith('=1'))
        answer(response, 410, gone);
      else response.end(`${added('a', '6')}${JSON.stringify({ type: 'ERROR', object: gone })}\n`);
    });
    await expect(collect(client.watch(secrets, { resourceVersion: '1' }, endless))).rejects.toMatchObject({
      code: 'Expired',
    });
    const seen: unknown[] = [];
    const reading = (async () => {
      for await (const event of client.watch(secrets, from, endless)) seen.push(event);
    })();
    await expect(reading).rejects.toMatchObject({ code: 'Expired' });
    expect(seen).toHaveLength(1);
  });

  it('rejects with ServiceUnavailable when the connection breaks or a line is cut short', async () => {
    const client = await clientOf((request, response) => {
      response.write(added('a', '6').slice(0, 20));
      if (request.url?.includes('resourceVersion=1')) setImmediate(() => response.destroy());
      else response.end();
    });
    for (const resourceVersion of ['1', '2']) {
      await expect(collect(client.watch(secrets, { resourceVersion }, endless))).rejects.toMatchObject({
        code: 'ServiceUnavailable',
      });
    }
  });

  it('rejects with Timeout when the server sends nothing, before the answer or within it', async () => {
    const client = await clientOf(
      (request, response) => {
        if (request.url?.includes('resourceVersion=1')) return;
        response.write(added('a', '6'));
      },
      { deadlineMs: 100 },
    );
    await expect(collect(client.watch(secrets, { resourceVersion: '1' }, endless))).rejects.toMatchObject({
      code: 'Timeout',
    });
    await expect(
      collect(client.watch(secrets, { ...from, inactivityMs: 50 }, endless)),
    ).rejects.toMatchObject({
      code: 'Timeout',
    });
  });
});
