import { once } from 'node:events';
import http2 from 'node:http2';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createMetrics } from '#shared/base/telemetry';
import { type Authority, createAuthority } from '../../../base/testing/authority.ts';
import { eventually } from '../../../base/testing/eventually.ts';
import { frontProxied } from '../testing/front-proxied.ts';
import { endHeaders, endStream, frames, RawHttp2, requestBlock, uint32 } from '../testing/raw-http2.ts';
import { group, startTestServer, type TestServer, widget, widgets } from '../testing/test-server.ts';
import { type Serving, serve } from './serve.ts';

let authority: Authority;
let proxies: Authority;
beforeAll(async () => {
  [authority, proxies] = await Promise.all([createAuthority('serving'), createAuthority('proxies')]);
});

let server: TestServer;
let serving: Serving;
let session: http2.ClientHttp2Session;
let seen: string[];
/** Requests wait here while they are authorized. */
let held: Promise<void> | undefined;
beforeEach(async () => {
  held = undefined;
  seen = [];
  server = await startTestServer({
    metrics: createMetrics(),
    authenticate: frontProxied(proxies),
    authorize: async (user) => {
      seen.push(`${user.name} ${user.groups.join(' | ')}`);
      await held;
      return { allowed: user.name === 'admin' };
    },
  });
  seen = [];
  const certificate = await authority.issue({ name: 'server' }, { hosts: ['localhost'], use: 'server' });
  serving = await serve(server.api, { certificate, host: '127.0.0.1', port: 0 });
  session = connect();
});
afterEach(async () => {
  session.destroy();
  await serving.close({ graceMs: 1_000 });
  await server.close();
});

function connect(pair: { cert?: string; key?: string } = {}): http2.ClientHttp2Session {
  const made = http2.connect(`https://localhost:${serving.port}`, { ca: authority.cert, ...pair });
  return made.on('error', () => undefined);
}

interface Answer {
  headers: http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader;
  body: string;
}

type Headers = http2.OutgoingHttpHeaders;
const asAdmin = { authorization: 'Bearer admin' };
const json = { 'content-type': 'application/json' };

function begin(headers: Headers, on = session, options: http2.ClientSessionRequestOptions = {}) {
  const stream = on.request({ ':path': widgets, ...asAdmin, ...headers }, options);
  return stream.on('error', () => undefined).setEncoding('utf8');
}

async function answerOf(stream: http2.ClientHttp2Stream): Promise<Answer> {
  let body = '';
  stream.on('data', (text: string) => {
    body += text;
  });
  const closed = once(stream, 'close');
  const [headers] = (await once(stream, 'response')) as [Answer['headers']];
  await closed;
  return { headers, body };
}

const ask = (headers: Headers, body?: string | Buffer) => {
  const stream = begin(headers, session, { endStream: body === undefined });
  if (body !== undefined) stream.end(body);
  return answerOf(stream);
};
const status = async (answered: Promise<Answer>) => (await answered).headers[':status'];
const post = (body: string | Buffer, headers: Headers = {}) =>
  ask({ ':method': 'POST', ...json, ...headers }, body);

describe('serve over HTTP/2', () => {
  it('reads and writes objects, without headers that belong to HTTP/1.1 connections', async () => {
    const body = JSON.stringify(widget('one'));
    const created = await post(body, { 'content-length': body.length });
    expect(created.headers[':status']).toBe(201);
    const { headers, body: text } = await ask({ ':path': `${widgets}/one` });
    expect(headers).toMatchObject({ ':status': 200, 'content-type': 'application/json' });
    expect(headers['content-length']).toBe(String(Buffer.byteLength(text)));
    for (const name of ['connection', 'keep-alive', 'transfer-encoding'])
      expect(headers).not.toHaveProperty(name);
    expect(JSON.parse(text)).toMatchObject({ metadata: { name: 'one' } });
    expect(await status(ask({ ':path': `${widgets}/two` }))).toBe(404);
    expect(await status(ask({ ':method': 'DELETE', ':path': `${widgets}/one` }))).toBe(200);
    expect(await status(ask({ ':method': 'FOO' }))).toBe(405);
  });

  it('answers HEAD with the headers alone', async () => {
    const got = await ask({});
    const head = await ask({ ':method': 'HEAD' });
    expect(head).toMatchObject({
      body: '',
      headers: { ':status': 200, 'content-length': got.headers['content-length'] },
    });
    const watch = await ask({ ':method': 'HEAD', ':path': `${widgets}?watch=true` });
    expect(watch).toMatchObject({ body: '', headers: { ':status': 200 } });
  });

  it('answers 304 to a client that has the document already', async () => {
    const path = { ':path': '/apis/test.example.com', accept: 'application/json' };
    const openapi = { ':path': '/openapi/v2', accept: 'application/json' };
    expect(await status(ask(path))).toBe(200);
    const first = await ask(openapi);
    expect(first.headers.etag).toBeDefined();
    const again = await ask({ ...openapi, 'if-none-match': first.headers.etag });
    expect(again).toMatchObject({ body: '', headers: { ':status': 304 } });
  });

  it('refuses bodies above 3 MiB, with and without a length, and goes on with the connection', async () => {
    const large = Buffer.alloc(4 * 1024 * 1024, ' ');
    expect(await status(post(large, { 'content-length': large.byteLength }))).toBe(413);
    expect(await status(post(large))).toBe(413);
    expect(await status(post(JSON.stringify(widget('after'))))).toBe(201);
  });

  it('takes a body in pieces, and one for which the client waits to be asked', async () => {
    const body = JSON.stringify(widget('pieces'));
    const stream = begin({ ':method': 'POST', ...json, expect: '100-continue' });
    const answered = answerOf(stream);
    await once(stream, 'continue');
    stream.write(body.slice(0, 20));
    stream.end(body.slice(20));
    expect((await answered).headers[':status']).toBe(201);
    expect(await status(post(body, { expect: 'something else' }))).toBe(417);
  });

  it('does not take a body that was cut for a complete one', async () => {
    const to = { host: '127.0.0.1', servername: 'localhost', port: serving.port, ca: authority.cert };
    const raw = await RawHttp2.open(to);
    const headers = { ...asAdmin, 'content-type': 'application/yaml' };
    raw.write(frames.headers, endHeaders, 1, requestBlock(widgets, headers, 'POST'));
    const text = `apiVersion: ${group}/v1\nkind: Widget\nmetadata:\n  name: cut\nspec:\n  color: blue\n`;
    raw.write(frames.data, 0, 1, Buffer.from(text));
    await eventually('the request to be under way', 2_000, () => expect(seen).toHaveLength(1));
    raw.write(frames.reset, 0, 1, uint32(http2.constants.NGHTTP2_CANCEL));
    const ended = raw.next(({ stream, flags }) => stream === 3 && (flags & endStream) > 0);
    raw.write(frames.headers, endHeaders | endStream, 3, requestBlock(widgets, asAdmin));
    await ended;
    expect(await status(ask({ ':path': `${widgets}/cut` }))).toBe(404);
    raw.socket.destroy();
  });

  it('hands the client certificate and every header line to the authenticator', async () => {
    const proxy = connect(await proxies.issue({ name: 'front-proxy' }));
    const named = {
      'x-remote-user': Buffer.from('jürgen').toString('latin1'),
      'x-remote-group': ['a,b', 'c'],
    };
    const headers = { authorization: undefined, ...named };
    expect(await status(answerOf(begin(headers, proxy)))).toBe(403);
    expect(seen).toEqual(['jürgen a,b | c | system:authenticated']);
    proxy.destroy();
    expect(await status(ask({ ...headers, authorization: undefined }))).toBe(403);
    expect(seen.at(-1)).toBe('system:anonymous system:unauthenticated');
    expect(await status(ask({ authorization: 'Bearer wrong' }))).toBe(401);
  });

  it('refuses paths that would be read as another one, and CONNECT', async () => {
    for (const path of [`${widgets}/../widgets`, `${widgets}/%2E./widgets`, `${widgets}/.`])
      expect(await status(ask({ ':path': path }))).toBe(404);
    expect(await status(ask({ ':path': `${widgets}\\..\\widgets` }))).toBe(400);
    const tunnel = session.request({ ':method': 'CONNECT', ':authority': 'elsewhere:443' });
    expect(await status(answerOf(tunnel))).toBe(400);
  });

  it('sends a watch line by line, and forgets it when its client leaves', async () => {
    const watch = begin({ ':path': `${widgets}?watch=true` });
    let lines = '';
    watch.on('data', (text: string) => {
      lines += text;
    });
    await once(watch, 'response');
    await post(JSON.stringify(widget('seen')));
    await eventually('the event', 2_000, () => expect(lines).toContain('"seen"'));
    expect(JSON.parse(lines)).toMatchObject({ type: 'ADDED' });
    const running = async () =>
      (await ask({ ':path': '/metrics' })).body.match(/^apiserver_longrunning_requests.* 1$/m);
    expect(await running()).not.toBeNull();
    watch.close(http2.constants.NGHTTP2_CANCEL);
    await eventually('the watch to end', 2_000, async () => expect(await running()).toBeNull());
    expect(await status(ask({}))).toBe(200);
    const { body } = await ask({ ':path': '/metrics' });
    expect(body).toMatch(/^apiserver_response_sizes_sum\{.*verb="LIST".*\} [1-9]/m);
  });

  it('ends in order: requests in flight are answered, watches end after a whole line, GOAWAY says to go elsewhere', async () => {
    const watch = answerOf(begin({ ':path': `${widgets}?watch=true&allowWatchBookmarks=true` }));
    await eventually('the watch to run', 5_000, () => expect(seen).toHaveLength(1));
    const { promise: mayGoOn, resolve: goOn } = Promise.withResolvers<void>();
    held = mayGoOn;
    const slow = ask({});
    await eventually('the request to be under way', 5_000, () => expect(seen).toHaveLength(2));
    const goaway = once(session, 'goaway');
    const closed = serving.close({ graceMs: 10_000, spreadMs: 10 });
    // Before the client is told that it should not.
    const late = ask({});
    expect((await watch).body.endsWith('\n')).toBe(true);
    goOn();
    expect(await status(slow)).toBe(200);
    expect(await status(late)).toBe(200);
    expect((await goaway)[0]).toBe(http2.constants.NGHTTP2_NO_ERROR);
    await closed;
  });

  it('does not wait for connections that never carried a request', async () => {
    const gone = once(session, 'close');
    await once(session, 'connect');
    await serving.close({ graceMs: 10_000 });
    await gone;
  });
});
