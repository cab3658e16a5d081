import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAuthority } from '../../../base/testing/authority.ts';
import { eventually } from '../../../base/testing/eventually.ts';
import { connectionOf } from '../http/connection.ts';
import { responseOf } from '../response/content.ts';
import {
  ack,
  endHeaders,
  endStream,
  type Frame,
  frame,
  frames,
  headerBlock,
  RawHttp2,
  requestBlock,
  uint32,
} from '../testing/raw-http2.ts';
import { type Http2Connections, serveHttp2 } from './http2.ts';

const times = { stallMs: 800, idleMs: 2_000, firstRequestMs: 3_000 };
const enhanceYourCalm = 11;
const protocolError = 1;
const refused = 7;
const cancel = 8;

let server: Server;
let connections: Http2Connections;
let ca: string;
let opened: RawHttp2[];
/** Requests that have come and not ended. */
let inProgress: number;
/** Requests to /held wait for this. */
let held: Promise<void>;
let release: () => void;
beforeEach(async () => {
  opened = [];
  inProgress = 0;
  ({ promise: held, resolve: release } = Promise.withResolvers<void>());
  const authority = await createAuthority('serving');
  ca = authority.cert;
  const pair = await authority.issue({ name: 'server' }, { hosts: ['localhost'], use: 'server' });
  server = createServer({ ...pair, ALPNProtocols: ['h2', 'http/1.1'] });
  const call: Parameters<typeof serveHttp2>[1]['call'] = async (request, env) => {
    inProgress++;
    env?.outgoing.once('close', () => inProgress--);
    const { pathname } = new URL(request.url);
    if (pathname === '/proxy') connectionOf(env)?.markProxy();
    if (pathname === '/held') await held;
    const size = pathname === '/large' ? 8 * 1024 * 1024 : 10;
    return { response: responseOf(new Uint8Array(size), { headers: new Headers() }), end: () => undefined };
  };
  connections = serveHttp2(server, { call }, times);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  release();
  for (const { socket } of opened) socket.destroy();
  connections.destroyAll();
  await new Promise((resolve) => server.close(resolve));
  await eventually('all requests to have ended', 2_000, () => expect(inProgress).toBe(0));
});

async function open(settings: Record<number, number> = {}): Promise<RawHttp2> {
  const { port } = server.address() as AddressInfo;
  const connection = await RawHttp2.open({ host: '127.0.0.1', servername: 'localhost', port, ca }, settings);
  opened.push(connection);
  return connection;
}

/** What a frame carries at most. */
const frameBytes = 16_384;

function get(connection: RawHttp2, stream: number, path = '/', headers: Record<string, string> = {}): void {
  const block = requestBlock(path, headers);
  for (let from = 0; from < block.length; from += frameBytes) {
    const isLast = from + frameBytes >= block.length;
    const type = from === 0 ? frames.headers : frames.continuation;
    const flags = (from === 0 ? endStream : 0) | (isLast ? endHeaders : 0);
    connection.write(type, flags, stream, block.subarray(from, from + frameBytes));
  }
}

const isReset = (code: number) => (each: Frame) =>
  each.type === frames.reset && each.payload.readUInt32BE() === code;
const isGoaway = (code: number) => (each: Frame) =>
  each.type === frames.goaway && each.payload.readUInt32BE(4) === code;
const isEnd = (stream: number) => (each: Frame) =>
  each.stream === stream &&
  (each.type === frames.data || each.type === frames.headers) &&
  (each.flags & endStream) > 0;

/** A request of somebody else, which must not notice. */
async function askElsewhere(): Promise<void> {
  const other = await open();
  const answered = other.next(isEnd(1));
  get(other, 1);
  await answered;
  other.socket.destroy();
}

const closed = ({ socket }: RawHttp2) =>
  new Promise<void>((resolve) => (socket.closed ? resolve() : socket.once('close', () => resolve())));

/** Resolves when the server has read all that was written before. */
async function pong(connection: RawHttp2): Promise<void> {
  const answered = connection.next(({ type, flags }) => type === frames.ping && flags === ack);
  connection.write(frames.ping, 0, 0, Buffer.alloc(8));
  await answered;
}

describe('an HTTP/2 connection', () => {
  it('is closed with ENHANCE_YOUR_CALM when it resets streams by the hundred', async () => {
    const hostile = await open();
    const goaway = hostile.next(isGoaway(enhanceYourCalm));
    for (let stream = 1; stream < 4_000; stream += 2) {
      get(hostile, stream, '/held');
      hostile.write(frames.reset, 0, stream, uint32(cancel));
    }
    await goaway;
    await closed(hostile);
    await askElsewhere();
  });

  it('of a front proxy may reset as many, as its users leave, and carries 1,000 streams', async () => {
    const proxy = await open();
    const answered = proxy.next(isEnd(1));
    get(proxy, 1, '/proxy');
    await answered;
    for (let stream = 3; stream < 4_003; stream += 2) {
      get(proxy, stream, '/held');
      proxy.write(frames.reset, 0, stream, uint32(cancel));
      if (stream % 200 === 1) await pong(proxy);
    }
    for (let stream = 4_003; stream < 5_803; stream += 2) get(proxy, stream, '/held');
    await eventually('its streams to be in progress', 2_000, () => expect(inProgress).toBe(900));
    const last = proxy.next(isEnd(5_803));
    get(proxy, 5_803);
    await last;
  });

  it('carries 250 streams at a time', async () => {
    const connection = await open();
    for (let stream = 1; stream < 500; stream += 2) get(connection, stream, '/held');
    await eventually('all to have begun', 2_000, () => expect(inProgress).toBe(250));
    const goaway = connection.next(isGoaway(protocolError));
    get(connection, 501);
    await goaway;
  });

  it('refuses a request whose headers, with those of the others in progress, exceed 256 KiB', async () => {
    const connection = await open();
    const long = { 'x-long': 'x'.repeat(60 * 1024) };
    const refusal = connection.next(isReset(refused));
    for (const stream of [1, 3, 5, 7, 9]) get(connection, stream, '/held', long);
    expect((await refusal).stream).toBe(9);
    const answered = connection.next(isEnd(7));
    release();
    await answered;
    const later = connection.next(isEnd(11));
    get(connection, 11, '/', long);
    await later;
  });

  it('resets a stream with more headers than 64 KiB', async () => {
    const connection = await open();
    const refusal = connection.next(isReset(enhanceYourCalm));
    const many = Array.from({ length: 6 }, (_, index) => [`x-${index}`, 'x'.repeat(14 * 1024)]);
    get(connection, 1, '/', Object.fromEntries(many));
    await refusal;
    const answered = connection.next(isEnd(3));
    get(connection, 3);
    await answered;
  });

  it.each<[what: string, flood: (connection: RawHttp2) => void]>([
    [
      'CONTINUATION frames without an end',
      (connection) => {
        connection.write(frames.headers, 0, 1, requestBlock('/'));
        for (let index = 0; index < 1_000; index++)
          connection.write(frames.continuation, 0, 1, headerBlock([['a', 'b']]));
      },
    ],
    [
      'empty CONTINUATION frames',
      (connection) => {
        connection.write(frames.headers, 0, 1, requestBlock('/'));
        for (let index = 0; index < 1_000; index++) connection.write(frames.continuation, 0, 1);
      },
    ],
    [
      'DATA frames without data',
      (connection) => {
        connection.write(frames.headers, endHeaders, 1, requestBlock('/held', {}, 'POST'));
        for (let index = 0; index < 5_000; index++) connection.write(frames.data, 0, 1);
      },
    ],
    ['frames on streams that were never opened', (connection) => connection.write(frames.data, 0, 99)],
    [
      'a window beyond 2^31',
      (connection) => {
        for (let index = 0; index < 2; index++)
          connection.write(frames.windowUpdate, 0, 0, uint32(2 ** 31 - 1));
      },
    ],
    [
      'frames that are longer than the server takes',
      (connection) => connection.write(frames.data, 0, 1, Buffer.alloc(70_000)),
    ],
    [
      'headers that are not compressed as HPACK',
      (connection) => connection.write(frames.headers, endHeaders, 1, Buffer.alloc(64, 0xff)),
    ],
    [
      'a request of HTTP/1.1',
      (connection) => connection.socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(10)),
    ],
  ])('is closed for %s', async (_what, flood) => {
    const hostile = await open();
    flood(hostile);
    await closed(hostile);
    await askElsewhere();
  });

  it.each<[what: string, flood: (index: number) => Buffer]>([
    ['PING', () => frame(frames.ping, 0, 0, Buffer.alloc(8))],
    ['SETTINGS', () => frame(frames.settings, 0, 0)],
    ['requests', (index) => frame(frames.headers, endHeaders | endStream, 2 * index + 1, requestBlock('/'))],
  ])('is closed for a flood of %s whose answers its client does not read', async (_what, flood) => {
    const hostile = await open();
    hostile.socket.pause();
    const before = process.memoryUsage().rss;
    let sent = 0;
    let isOpen = true;
    // The end of the connection is not read either, but writing fails then.
    hostile.socket.once('error', () => {
      isOpen = false;
    });
    while (isOpen && sent < 1_000_000) {
      const burst = Buffer.concat(Array.from({ length: 1_000 }, () => flood(sent++)));
      if (!hostile.socket.write(burst))
        await Promise.race([once(hostile.socket, 'drain').catch(() => undefined), sleep(500)]);
    }
    expect(isOpen).toBe(false);
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
    await askElsewhere();
  });

  it.each<[what: string, flood: (connection: RawHttp2, index: number) => void]>([
    ['PING', (connection) => connection.write(frames.ping, 0, 0, Buffer.alloc(8))],
    ['SETTINGS', (connection) => connection.write(frames.settings, 0, 0)],
    [
      'PRIORITY',
      (connection, index) => connection.write(frames.priority, 0, 2 * index + 1, Buffer.alloc(5, 16)),
    ],
    ['WINDOW_UPDATE', (connection) => connection.write(frames.windowUpdate, 0, 0, uint32(1))],
    ['frames of unknown types', (connection) => connection.write(200, 0, 0, Buffer.alloc(100))],
  ])('with a flood of %s keeps nobody else waiting', async (_what, flood) => {
    const hostile = await open();
    for (let index = 1; index <= 20_000; index++) flood(hostile, index);
    const began = performance.now();
    for (let index = 0; index < 3; index++) await askElsewhere();
    expect(performance.now() - began).toBeLessThan(2_000);
  });

  it('that never grants a window loses its streams, and keeps none of the others waiting', async () => {
    const connection = await open({ 4: 0 });
    const resets: number[] = [];
    connection.onFrame = (each) => void (isReset(cancel)(each) && resets.push(each.stream));
    for (const stream of [1, 3, 5]) get(connection, stream, '/large');
    // This stream is read all the time, so the connection is not silent.
    const reading = setInterval(() => connection.write(frames.windowUpdate, 0, 7, uint32(1)), 20);
    get(connection, 7);
    await askElsewhere();
    await eventually('the stalled streams to be reset', 3_000, () =>
      expect(resets.toSorted()).toEqual([1, 3, 5]),
    );
    clearInterval(reading);
    await eventually('their requests to have ended', 1_000, () => expect(inProgress).toBeLessThanOrEqual(1));
  });

  it('whose client reads slowly keeps its stream', async () => {
    const connection = await open();
    let bytes = 0;
    connection.onFrame = ({ type, payload }) => {
      if (type === frames.data) bytes += payload.length;
    };
    const ended = connection.next(isEnd(1));
    const reading = setInterval(() => {
      for (const stream of [0, 1]) connection.write(frames.windowUpdate, 0, stream, uint32(512 * 1024));
    }, times.stallMs / 5);
    get(connection, 1, '/large');
    await ended;
    clearInterval(reading);
    expect(bytes).toBe(8 * 1024 * 1024);
  });

  it.each<[what: string, begin: (connection: RawHttp2) => void]>([
    ['nothing', () => undefined],
    ['a part of the headers', (connection) => connection.write(frames.headers, 0, 1, requestBlock('/'))],
  ])('is closed when it has sent %s, though it keeps on sending PING', async (what, begin) => {
    const connection = await open();
    begin(connection);
    const pinging = setInterval(() => {
      if (what === 'nothing') connection.write(frames.ping, 0, 0, Buffer.alloc(8));
    }, 50);
    const began = performance.now();
    await closed(connection);
    clearInterval(pinging);
    expect(performance.now() - began).toBeLessThan(times.firstRequestMs + times.stallMs + 1_500);
  });

  it('is closed when it is idle, and not while a request is in progress', async () => {
    const connection = await open();
    const answered = connection.next(isEnd(1));
    get(connection, 1, '/held');
    await sleep(times.idleMs + times.stallMs);
    expect(connection.socket.closed).toBe(false);
    release();
    await answered;
    const goaway = connection.next(isGoaway(0));
    await goaway;
    await closed(connection);
  });
});
