import { once } from 'node:events';
import { Agent, request } from 'node:https';
import tls from 'node:tls';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Authority, createAuthority } from '../../../base/testing/authority.ts';
import { eventually } from '../../../base/testing/eventually.ts';
import { frontProxied } from '../testing/front-proxied.ts';
import { startTestServer, type TestServer, widgets } from '../testing/test-server.ts';
import { type Serving, serve } from './serve.ts';

let authority: Authority;
let proxies: Authority;
let certificate: { cert: string; key: string };
beforeAll(async () => {
  [authority, proxies] = await Promise.all([createAuthority('serving'), createAuthority('proxies')]);
  certificate = await authority.issue({ name: 'first' }, { hosts: ['localhost'], use: 'server' });
});

let server: TestServer;
let serving: Serving;
let seen: string[];
/** While pending, authorization of every request waits for it. */
let held: Promise<void> | undefined;
beforeEach(async () => {
  held = undefined;
  seen = [];
  server = await startTestServer({
    authenticate: frontProxied(proxies),
    authorize: async (user) => {
      seen.push(`${user.name} ${user.groups.join(' | ')}`);
      await held;
      return { allowed: user.name === 'admin' };
    },
  });
  seen = [];
  serving = await serve(server.api, { certificate, host: '127.0.0.1', port: 0 });
});
afterEach(async () => {
  await serving.close({ graceMs: 1_000 });
  await server.close();
});

interface Asked {
  path?: string;
  headers?: Record<string, string | string[]>;
  agent?: Agent;
  pair?: { cert: string; key: string };
}

function ask({
  path = widgets,
  headers = {},
  agent,
  pair,
}: Asked): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      servername: 'localhost',
      port: serving.port,
      path,
      headers,
      ca: authority.cert,
      agent: agent ?? (false as const),
      ...pair,
    };
    const outgoing = request(options, (answer) => {
      let body = '';
      answer.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body }));
    });
    outgoing.on('error', reject).end();
  });
}

/** Sends a raw request over TLS 1.3. Resolves with its status, the new sessions and whether `session` was resumed. */
async function byHand(session: Buffer | undefined, pair?: { cert: string; key: string }, path = widgets) {
  const socket = tls.connect({
    host: '127.0.0.1',
    port: serving.port,
    servername: 'localhost',
    ca: authority.cert,
    minVersion: 'TLSv1.3',
    ...(session && { session }),
    ...pair,
  });
  const sessions: Buffer[] = [];
  socket.on('session', (each: Buffer) => sessions.push(each));
  await once(socket, 'secureConnect');
  const reused = socket.isSessionReused();
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-Remote-User: admin\r\nConnection: close\r\n\r\n`,
  );
  let text = '';
  for await (const chunk of socket.setEncoding('utf8')) text += chunk;
  return { status: Number(text.split(' ')[1]), sessions, reused };
}

describe('serve', () => {
  it('hands the client certificate and every header line to the authenticator', async () => {
    const pair = await proxies.issue({ name: 'front-proxy' });
    const headers = { 'X-Remote-User': 'admin', 'X-Remote-Group': ['a,b', 'c'] };
    expect(await ask({ headers, pair })).toMatchObject({ status: 200 });
    expect(seen).toEqual(['admin a,b | c | system:authenticated']);
  });

  it('treats a TLS 1.3 client that resumes without a certificate as anonymous', async () => {
    const first = await byHand(undefined);
    expect(first.status).toBe(403);
    for (const session of [...first.sessions, ...first.sessions]) {
      expect(await byHand(session)).toMatchObject({ status: 403, reused: false });
    }
    const pair = await proxies.issue({ name: 'front-proxy' });
    const proxy = await byHand(undefined, pair);
    expect(proxy.status).toBe(200);
    for (const session of proxy.sessions) {
      expect(await byHand(session)).toMatchObject({ status: 403, reused: false });
    }
    expect(seen.filter((each) => each.startsWith('admin'))).toHaveLength(1);
  });

  it('presents a reloaded certificate to new connections and keeps open ones', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const headers = { Authorization: 'Bearer admin' };
    await ask({ headers, agent });
    serving.reload(await authority.issue({ name: 'second' }, { hosts: ['localhost'], use: 'server' }));
    const socket = Object.values(agent.freeSockets)[0]?.[0] as tls.TLSSocket;
    expect(await ask({ headers, agent })).toMatchObject({ status: 200 });
    expect(socket.destroyed).toBe(false);
    expect(socket.getPeerCertificate().subject.CN).toBe('first');
    const fresh = tls.connect({
      host: '127.0.0.1',
      port: serving.port,
      servername: 'localhost',
      ca: authority.cert,
    });
    await once(fresh, 'secureConnect');
    expect(fresh.getPeerCertificate().subject.CN).toBe('second');
    fresh.destroy();
    agent.destroy();
  });

  it('keeps its certificate when the new certificate and key do not match', async () => {
    const other = await authority.issue({ name: 'second' }, { hosts: ['localhost'] });
    expect(() => serving.reload({ cert: other.cert, key: certificate.key })).toThrow(/cannot be used/);
    expect(await ask({ headers: { Authorization: 'Bearer admin' } })).toMatchObject({ status: 200 });
  });

  it('responds 404 to a path with dot segments instead of normalizing it', async () => {
    expect((await byHand(undefined)).status).toBe(403);
    for (const path of [`${widgets}/../widgets`, `${widgets}/%2E./widgets`, `${widgets}/.`])
      expect((await byHand(undefined, undefined, path)).status).toBe(404);
  });

  it('names the address that it cannot listen on', async () => {
    const again = serve(server.api, { certificate, host: '127.0.0.1', port: serving.port });
    await expect(again).rejects.toThrow(`cannot listen on 127.0.0.1 port ${serving.port}`);
  });

  it('shuts down gracefully: finishes requests in flight, ends watches after a whole line, refuses connections', async () => {
    const agent = new Agent({ keepAlive: true });
    const headers = { Authorization: 'Bearer admin' };
    const watch = ask({ path: `${widgets}?watch=true&allowWatchBookmarks=true`, headers, agent });
    await eventually('the watch to run', 5_000, () => expect(seen).toHaveLength(1));
    const { promise: mayGoOn, resolve: goOn } = Promise.withResolvers<void>();
    held = mayGoOn;
    const slow = ask({ headers, agent });
    await eventually('the request to be under way', 5_000, () => expect(seen).toHaveLength(2));
    const closed = serving.close({ graceMs: 10_000, spreadMs: 10 });
    const { body } = await watch;
    expect(body.endsWith('\n')).toBe(true);
    for (const text of body.trim().split('\n')) expect(JSON.parse(text)).toHaveProperty('type');
    await expect(ask({ headers })).rejects.toThrow(/ECONNREFUSED/);
    goOn();
    expect(await slow).toMatchObject({ status: 200 });
    await closed;
    agent.destroy();
  });

  it('does not wait for connections that never carried a request', async () => {
    const unused = tls.connect({
      host: '127.0.0.1',
      port: serving.port,
      servername: 'localhost',
      ca: authority.cert,
    });
    unused.on('error', () => undefined);
    await once(unused, 'secureConnect');
    const gone = once(unused, 'close');
    await serving.close({ graceMs: 10_000 });
    await gone;
  });

  it('speaks HTTP/2 to clients that offer it, else HTTP/1.1', async () => {
    const at = async (port: number, ...protocols: string[]) => {
      const to = { host: '127.0.0.1', servername: 'localhost', port, ca: authority.cert };
      const socket = tls.connect({ ...to, ALPNProtocols: protocols });
      await once(socket, 'secureConnect').finally(() => socket.destroy());
      return socket.alpnProtocol;
    };
    const connect = (...protocols: string[]) => at(serving.port, ...protocols);
    expect(await connect('h2', 'http/1.1')).toBe('h2');
    expect(await connect('http/1.1', 'h2')).toBe('h2');
    expect(await connect('h2')).toBe('h2');
    expect(await connect('http/1.1')).toBe('http/1.1');
    expect(await connect()).toBe(false);
    await expect(connect('http/1.0')).rejects.toThrow(/no application protocol/i);
    const other = await serve(server.api, { certificate, host: '127.0.0.1', port: 0, onlyHttp1: true });
    expect(await at(other.port, 'h2', 'http/1.1')).toBe('http/1.1');
    await other.close();
  });
});
