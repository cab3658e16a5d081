import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import tls from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { createAuthority } from '../../../base/testing/authority.ts';
import { eventually } from '../../../base/testing/eventually.ts';
import { startTestServer, type TestServer, widget, widgets } from '../testing/test-server.ts';
import { type Serving, serve } from './serve.ts';
import { isWatchSocket, serveWatchSockets } from './watch-socket.ts';

const authority = await createAuthority('sockets');
const certificate = await authority.issue({ name: 'api' }, { hosts: ['localhost'], use: 'server' });
tls.setDefaultCACertificates([...tls.getCACertificates('default'), authority.cert]);

let server: TestServer;
let serving: Serving;
beforeEach(async () => {
  server = await startTestServer({
    authenticate: async (request) => {
      if (request.headers.get('authorization') === 'Bearer wrong')
        throw new ArcError('Unauthorized', 'Unauthorized');
      return { name: 'admin', groups: [] };
    },
  });
  serving = await serve(server.api, { certificate, host: '127.0.0.1', port: 0 });
});
afterEach(async () => {
  await serving.close({ graceMs: 1_000 });
  await server.close();
});

interface WatchEvent {
  socket: WebSocket;
  events: { type: string; object: { metadata: { name?: string } } }[];
  closed: Promise<number>;
}

/** Starts a watch with Node's WebSocket client. */
async function watch(query: string, protocols: string[] = []): Promise<WatchEvent> {
  const socket = new WebSocket(`wss://localhost:${serving.port}${widgets}?watch=true${query}`, protocols);
  const events: WatchEvent['events'] = [];
  socket.addEventListener('message', ({ data }) => events.push(JSON.parse(data)));
  const closed = new Promise<number>((resolve) => {
    socket.addEventListener('close', ({ code }) => resolve(code));
  });
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', () => reject(new Error('the handshake failed')));
  });
  return { socket, events, closed };
}

/** Sends a raw handshake with the header lines `more`. Resolves with its socket. */
async function byHand(path: string, more: string[] = [], version = '13', port = serving.port) {
  const socket = tls.connect({ host: '127.0.0.1', port, servername: 'localhost' });
  await once(socket, 'secureConnect');
  const lines = [
    ...[`GET ${path} HTTP/1.1`, 'Host: localhost', 'Connection: Upgrade', 'Upgrade: websocket'],
    ...[`Sec-WebSocket-Version: ${version}`, 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', ...more],
  ];
  let received = Buffer.alloc(0);
  socket.on('data', (bytes: Buffer) => {
    received = Buffer.concat([received, bytes]);
  });
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  return { socket, received: () => received };
}

/** A server's close frame without a reason. */
const closeFrame = (code: number) => Buffer.from([0x88, 0x02, code >> 8, code & 0xff]);

const namesOf = ({ events }: WatchEvent) =>
  events.map(({ type, object }) => `${type} ${object.metadata.name}`);

describe('a watch over a WebSocket', () => {
  it('sends existing objects and changes, one message per event, and closes when the watch ends', async () => {
    await server.call('POST', widgets, widget('first'));
    await server.call('POST', widgets, widget('second'));
    const seen = await watch('&timeoutSeconds=2');
    await server.call('DELETE', `${widgets}/first`);
    expect(await seen.closed).toBe(1000);
    expect(namesOf(seen)).toEqual(['ADDED first', 'ADDED second', 'DELETED first']);
  });

  it('closes when the server shuts down', async () => {
    const seen = await watch('');
    await serving.close({ graceMs: 10_000 });
    expect(await seen.closed).toBe(1000);
  });

  it('ends the watch when the client closes', async () => {
    const seen = await watch('');
    seen.socket.close(1000);
    expect(await seen.closed).toBe(1000);
    // Nothing is under way any more, or this would wait.
    await server.api.close();
  });

  it('selects the first offered subprotocol that is not a bearer token', async () => {
    const token = 'base64url.bearer.authorization.k8s.io.YQ';
    const { socket } = await watch('&timeoutSeconds=60', [token, 'v1.example']);
    expect(socket.protocol).toBe('v1.example');
    socket.close();
  });

  it.each([
    ['401', `${widgets}?watch=true`, ['Authorization: Bearer wrong'], '"reason":"Unauthorized"'],
    ['400', `${widgets}?watch=true&resourceVersion=x`, [], '"reason":"BadRequest"'],
    ['404', '/apis/nowhere/v1/things?watch=true', [], '404 page not found'],
  ])('responds with HTTP %s before the protocol switches', async (code, path, more, text) => {
    const { socket, received } = await byHand(path, more);
    await once(socket, 'close');
    expect(received().toString()).toMatch(new RegExp(`^HTTP/1.1 ${code} `));
    expect(received().toString()).toContain(text);
  });

  it.each(['8', '14', ''])('refuses protocol version "%s" and reports its own', async (version) => {
    const { socket, received } = await byHand(`${widgets}?watch=true`, [], version);
    await once(socket, 'close');
    expect(received().toString()).toMatch(/^HTTP\/1.1 400 .*\r\nSec-WebSocket-Version: 13\r\n/s);
  });

  it('ignores other upgrades', async () => {
    await server.call('POST', widgets, widget('plain'));
    const { socket, received } = await byHand(`${widgets}/plain`);
    await eventually('the object', 10_000, () => expect(received().toString()).toContain('"name":"plain"'));
    expect(received().toString()).toMatch(/^HTTP\/1.1 200 /);
    socket.destroy();
  });

  it('responds to a ping sent with the handshake, and closes on bytes that are not a frame', async () => {
    const { socket, received } = await byHand(`${widgets}?watch=true`);
    socket.write(Buffer.from([0x89, 0x82, 0, 0, 0, 0, 0x68, 0x69]));
    const pong = Buffer.from([0x8a, 0x02, 0x68, 0x69]);
    await eventually('the pong', 10_000, () => expect(received().includes(pong)).toBe(true));
    socket.write('GET / HTTP/1.1\r\n\r\n');
    await once(socket, 'close');
    expect(received().subarray(-4)).toEqual(closeFrame(1002));
  });

  it.each([
    ['unmasked', [0x89, 0x00], 1002],
    ['of an extension', [0xc9, 0x80, 0, 0, 0, 0], 1002],
    ['a fragmented ping', [0x09, 0x80, 0, 0, 0, 0], 1002],
    ['a long ping', [0x89, 0xfe, 0, 126, 0, 0, 0, 0], 1002],
    ['a message of a gigabyte', [0x82, 0xff, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0], 1009],
  ])('closes on a frame that is %s', async (_, bytes, code) => {
    const { socket, received } = await byHand(`${widgets}?watch=true`);
    socket.write(Buffer.from(bytes));
    await once(socket, 'close');
    expect(received().subarray(-4)).toEqual(closeFrame(code));
  });

  it('discards client messages and responds to pings', async () => {
    const { socket, received } = await byHand(`${widgets}?watch=true`);
    const payload = Buffer.alloc(70_000, 0xff);
    const head = Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 1, 0x11, 0x70, 0, 0, 0, 0]);
    for (let message = 0; message < 3; message++) socket.write(Buffer.concat([head, payload]));
    socket.write(Buffer.from([0x89, 0x80, 0, 0, 0, 0]));
    await eventually('the pong', 10_000, () =>
      expect(received().includes(Buffer.from([0x8a, 0]))).toBe(true),
    );
    socket.destroy();
  });

  it('refuses a malformed subprotocol header and ends the watch', async () => {
    const { socket, received } = await byHand(`${widgets}?watch=true`, ['Sec-WebSocket-Protocol: a b']);
    await once(socket, 'close');
    expect(received().toString()).toMatch(/^HTTP\/1.1 400 /);
    // Nothing is under way any more, or this would wait.
    await server.api.close();
  });

  it('ends the watch of a client that disconnects without a close frame', async () => {
    const { socket, received } = await byHand(`${widgets}?watch=true`);
    await eventually('the switch', 10_000, () => expect(received().toString()).toContain(' 101 '));
    socket.destroy();
    await server.api.close();
  });
});

it('ends the connection of a client that does not read', async () => {
  const line = Buffer.concat([Buffer.alloc(64 * 1024, 'x'), Buffer.from('\n')]);
  const endless = new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(line) });
  const alone = createServer({ ...certificate, shouldUpgradeCallback: isWatchSocket });
  let upgraded: Duplex | undefined;
  alone.on('upgrade', (_request, socket) => {
    upgraded = socket;
  });
  serveWatchSockets(alone, () => new Response(endless), 500);
  alone.listen(0, '127.0.0.1');
  await once(alone, 'listening');
  const { socket } = await byHand('/?watch', [], '13', (alone.address() as AddressInfo).port);
  socket.pause();
  await eventually('the server to end the connection', 2_000, () => expect(upgraded?.destroyed).toBe(true));
  socket.destroy();
  await new Promise((resolve) => alone.close(resolve));
});
