import { createHash } from 'node:crypto';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { createAuthority } from '../../base/testing/authority.ts';
import { digestOf } from '../reference/digest.ts';
import { listen } from '../testing/front.ts';
import type { ByteStream } from './body.ts';
import { createHttpClient, defaultTimeouts, type HttpClient, type Timeouts } from './http-client.ts';

const mebibyte = 1024 * 1024;
const content = Buffer.alloc(20 * mebibyte, 'a content that does not repeat at 2^n');
const authority = await createAuthority('servers');
const own = await authority.issue({ name: 'localhost' }, { hosts: ['localhost'] });

let ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends) await end();
  ends = [];
});

type Serve = (request: IncomingMessage, response: ServerResponse) => void;
const whole: Serve = (_, response) => response.setHeader('content-length', content.length).end(content);

/** A server, and a client that asks it for a lent body. */
async function served(serve: Serve, { tls = false, timeouts = defaultTimeouts } = {}) {
  const sockets = new Set<Socket>();
  const counted: Serve = (request, response) => {
    sockets.add(request.socket);
    serve(request, response);
  };
  const server = tls ? https.createServer(own, counted) : http.createServer(counted);
  const { port, close } = await listen(server);
  const client: HttpClient = createHttpClient(tls ? { ca: authority.cert } : {}, timeouts);
  ends.push(async () => client.close(), close);
  const url = new URL(`${tls ? 'https' : 'http'}://localhost:${port}/`);
  const get = async (reusesBuffers = true, signal = new AbortController().signal) => {
    const { body } = await client.send({
      method: 'GET',
      url,
      headers: {},
      streamed: true,
      reusesBuffers,
      signal,
    });
    return body;
  };
  return { get, sockets };
}

/** Reads to the end; with `slow`, the loop turns between chunks. `memory` has what the chunks lay in. */
async function read(body: ByteStream, slow = false) {
  const hash = createHash('sha256');
  const memory = new Set<ArrayBufferLike>();
  let bytes = 0;
  for await (const chunk of body) {
    if (slow) for (let turns = 0; turns < 5; turns += 1) await turn();
    hash.update(chunk);
    memory.add(chunk.buffer);
    bytes += chunk.length;
  }
  return { digest: `sha256:${hash.digest('hex')}`, memory: memory.size, bytes };
}

it.each([
  ['http', false, false],
  ['http, to a slow reader', false, true],
  ['https', true, false],
  ['https, to a slow reader', true, true],
])('a large body arrives by %s, in a few reused buffers', async (_, tls, slow) => {
  const { get } = await served(whole, { tls });
  const { digest, memory } = await read(await get(), slow);
  expect(digest).toBe(digestOf(content));
  expect(memory).toBeLessThan(16);
});

it.each<[string, boolean, Serve]>([
  ['is small', true, (_, response) => response.end('small')],
  ['has no length', true, (_, response) => response.write(content, () => response.end())],
  ['is kept by who asks', false, whole],
])('a body that %s is not pooled, and its connection is reused', async (_, reusesBuffers, serve) => {
  const { get, sockets } = await served(serve);
  const { bytes } = await read(await get(reusesBuffers));
  const again: Buffer[] = [];
  for await (const chunk of await get(reusesBuffers)) again.push(chunk);
  expect(Buffer.concat(again)).toHaveLength(bytes);
  expect(digestOf(Buffer.concat(again))).toBe(digestOf(bytes > 5 ? content : Buffer.from('small')));
  expect(sockets.size).toBe(1);
});

it('the bytes of an interrupted connection are yielded before its end is reported', async () => {
  const half = content.subarray(0, content.length / 2);
  const { get } = await served((_, response) => {
    response.setHeader('content-length', content.length).write(half, () => response.socket?.end());
  });
  let bytes = 0;
  const reading = (async () => {
    for await (const { length } of await get()) bytes += length;
  })();
  await expect(reading).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect(bytes).toBe(half.length);
});

const stalls: Serve = (_, response) => {
  response.setHeader('content-length', content.length).write(content.subarray(0, mebibyte));
};
it.each<[string, Partial<Timeouts>, boolean, object]>([
  ['brings nothing for a while', { idleMs: 200 }, false, { code: 'ETIMEDOUT' }],
  ['is no longer wanted', {}, true, {}],
])('a body that %s ends with an error', async (_, timeouts, aborted, error) => {
  const { get } = await served(stalls, { timeouts: { ...defaultTimeouts, ...timeouts } });
  const abort = new AbortController();
  const body = await get(true, abort.signal);
  if (aborted) setTimeout(() => abort.abort(), 50);
  await expect(read(body)).rejects.toMatchObject(error);
});

it.each<[string, (body: ByteStream) => unknown]>([
  ['before it is read', (body) => body.destroy()],
  [
    'while it is read',
    async (body) => {
      for await (const _ of body) break;
    },
  ],
])('a body that is abandoned %s closes its connection', async (_, leave) => {
  const { get, sockets } = await served(stalls);
  await leave(await get());
  await expect.poll(() => [...sockets].map(({ destroyed }) => destroyed)).toEqual([true]);
});
