import { createHash } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { deafServer, silentServer } from '../../../test/fixtures/http/black-hole.ts';
import { listen } from '../testing/front.ts';
import { createHttpClient, defaultTimeouts } from './http-client.ts';

describe.concurrent('createHttpClient', () => {
  it.each([
    ['does not answer the connect', 'http', deafServer],
    ['accepts and does not answer the TLS handshake', 'https', silentServer],
  ] as const)('gives up within seconds on a registry that %s', async (_, scheme, start) => {
    const hole = await start();
    const client = createHttpClient({}, defaultTimeouts);
    try {
      const url = new URL(`${scheme}://127.0.0.1:${hole.port}/v2/`);
      const { signal } = new AbortController();
      const sent = client.send({ method: 'GET', url, headers: {}, signal });
      await expect(sent).rejects.toMatchObject({
        code: 'ETIMEDOUT',
        message: `no connection to 127.0.0.1:${hole.port} within 5 s (TLS handshake included)`,
      });
    } finally {
      client.close();
      await hole.close();
    }
  });

  it.each([
    ['does not answer the connect', deafServer],
    ['accepts and opens no tunnel', silentServer],
  ])('gives up within seconds on a proxy that %s', async (_, start) => {
    const hole = await start();
    const client = createHttpClient({}, defaultTimeouts, { HTTPS_PROXY: `http://127.0.0.1:${hole.port}` });
    try {
      const url = new URL('https://registry.example.com/v2/');
      const { signal } = new AbortController();
      const sent = client.send({ method: 'GET', url, headers: {}, signal });
      await expect(sent).rejects.toMatchObject({
        code: 'ERR_PROXY_TUNNEL',
        message: expect.stringContaining('timed out after 5000ms'),
      });
    } finally {
      client.close();
      await hole.close();
    }
  });

  it('gives up on a registry that switches the protocol', async () => {
    const text = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n';
    const server = createTcpServer((socket) => socket.once('data', () => socket.end(text)));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const client = createHttpClient({}, { ...defaultTimeouts, requestMs: 1_000 });
    try {
      const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v2/`);
      const signal = AbortSignal.timeout(5_000);
      const sent = client.send({ method: 'GET', url, headers: {}, signal });
      await expect(sent).rejects.toThrow('the connection ended before the answer began');
    } finally {
      client.close();
      server.close();
    }
  });

  it('sends a chunk of a body before it requests the next one, however slow the server is', async () => {
    const found = createHash('sha256');
    const { port, close } = await listen(
      http.createServer(async (request, response) => {
        await sleep(200);
        for await (const chunk of request) found.update(chunk);
        response.end();
      }),
    );
    const wanted = createHash('sha256');
    async function* body() {
      const memory = Buffer.alloc(1024 * 1024);
      for (let chunk = 0; chunk < 20; chunk += 1) {
        wanted.update(memory.fill(chunk));
        yield memory;
      }
    }
    const client = createHttpClient({}, defaultTimeouts);
    const { signal } = new AbortController();
    const url = new URL(`http://127.0.0.1:${port}/`);
    const { status } = await client.send({ method: 'PUT', url, headers: {}, body, signal });
    client.close();
    await close();
    expect(status).toBe(200);
    expect(found.digest('hex')).toBe(wanted.digest('hex'));
  });

  it.each([
    {
      answer: 201,
      after: 1000,
      what: 'success when the body has ended, though the server has all of it before',
    },
    { answer: 401, after: 0, what: 'a refusal at once' },
  ])('reports $what', async ({ answer, after }) => {
    const answered = Promise.withResolvers<void>();
    const { port, close } = await listen(
      http.createServer(async (request, response) => {
        let bytes = 0;
        if (after > 0)
          for await (const { length } of request) {
            bytes += length;
            if (bytes === after) break;
          }
        response.writeHead(answer).end();
        answered.resolve();
      }),
    );
    let hasEnded = false;
    const told = Promise.withResolvers<void>();
    async function* body() {
      yield Buffer.alloc(1000);
      await answered.promise;
      // Long after the answer has come; a refusal is told before that.
      await (answer === 401 ? told.promise : sleep(100));
      hasEnded = true;
    }
    const client = createHttpClient({}, defaultTimeouts);
    const { signal } = new AbortController();
    const url = new URL(`http://127.0.0.1:${port}/`);
    const headers = { 'content-length': '1000' };
    const { status } = await client.send({ method: 'PUT', url, headers, body, signal });
    expect([status, hasEnded]).toEqual([answer, answer === 201]);
    told.resolve();
    client.close();
    await close();
  });

  it.each([
    'http://169.254.169.254/latest/meta-data/',
    'http://[::ffff:a9fe:a9fe]/',
    'http://[fd00:ec2::254]/',
    'http://2852039166/',
  ])('does not reach %s', async (address) => {
    const client = createHttpClient({}, defaultTimeouts);
    const { signal } = new AbortController();
    const sent = client.send({ method: 'GET', url: new URL(address), headers: {}, signal });
    await expect(sent).rejects.toMatchObject({ code: 'ERR_ADDRESS_DENIED' });
    client.close();
  });
});
