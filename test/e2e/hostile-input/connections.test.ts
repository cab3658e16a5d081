import { once } from 'node:events';
import https from 'node:https';
import net from 'node:net';
import tls from 'node:tls';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../../shared/base/testing/eventually.ts';
import { rawBytes } from '../../fixtures/http/raw-http.ts';
import { artifact, attacked, many, order, orders } from './attacked.ts';

const server = attacked();

describe('connections', () => {
  const head = (method: string, path: string) =>
    `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.api.token}\r\nContent-Type: application/json\r\n`;

  it.each([
    ['no HTTP', () => '\x00\x01garbage\r\n\r\n', '400'],
    ['nothing but empty lines', () => '\r\n'.repeat(20), '400'],
    ['HTTP/2 without asking', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', '400'],
    // Just above the limit: had the server closed with bytes unread, the reset could overtake its answer.
    ['a header of 256 KiB', () => `${head('GET', '/version')}X-A: ${'a'.repeat(256 * 1024)}\r\n\r\n`, '431'],
    [
      'two lengths',
      () => `${head('POST', orders)}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      '400',
    ],
    ['a broken chunk', () => `${head('POST', orders)}Transfer-Encoding: chunked\r\n\r\nZZ\r\n`, '400'],
  ])('%s is refused', async (_what, bytes, code) => {
    expect(await rawBytes(server.api, bytes())).toMatch(new RegExp(`^HTTP/1.1 ${code} `));
  });

  it('a client that stops sending half-way is let go', async () => {
    const bytes = `${head('POST', orders)}Content-Length: 200\r\n\r\n{"a"`;
    await rawBytes(server.api, bytes, { halfClose: true });
  });

  it('a client that sends its request and nothing more is answered', async () => {
    const text = await rawBytes(server.api, `${head('GET', `${orders}/target`)}\r\n`, { halfClose: true });
    expect(text).toMatch(/^HTTP\/1.1 200 /);
  });

  it('many that send their head or body a byte at a time do not keep others from being served', async () => {
    const slow = await Promise.all(
      many(60, async (at) => {
        const socket = tls.connect({ host: '127.0.0.1', port: server.api.port, ca: server.api.ca });
        socket.on('error', () => undefined);
        await once(socket, 'secureConnect');
        const bytes =
          at % 2 ? head('GET', orders) : `${head('POST', orders)}Content-Length: 90000\r\n\r\n{"a`;
        socket.write(bytes.slice(0, at % 2 ? 40 : undefined));
        return socket;
      }),
    );
    expect((await server.send('GET', `${orders}/target`)).code).toBe(200);
    for (const socket of slow) socket.destroy();
  });

  it('80 idle watches dropped at once leave nothing behind', async () => {
    const before = server.api.watches();
    const watching = await Promise.all(
      many(80, async () => {
        const socket = tls.connect({ host: '127.0.0.1', port: server.api.port, ca: server.api.ca });
        await once(socket, 'secureConnect');
        socket.write(`${head('GET', `${orders}?watch=1&resourceVersion=1`)}\r\n`);
        await once(socket, 'data');
        return socket;
      }),
    );
    expect(server.api.watches()).toBe(before + 80);
    for (const socket of watching) socket.destroy();
    await eventually('the watches to end', 10_000, () => expect(server.api.watches()).toBe(before));
  });

  it('clients that leave in the middle of a list leave nothing behind', async () => {
    const big = 'x'.repeat(200_000);
    const made = many(6, (at) =>
      server.post(order({ artifacts: [{ ...artifact, spec: { big } }] }, { name: `big-${at}` })),
    );
    for (const answer of await Promise.all(made)) expect(answer.code).toBe(201);
    await Promise.all(
      many(8, async () => {
        const text = await rawBytes(server.api, `${head('GET', orders)}\r\n`, { until: 'OrderList' });
        expect(text).toMatch(/^HTTP\/1.1 200 /);
      }),
    );
    expect((await server.send('GET', `${orders}?limit=1`)).code).toBe(200);
  });

  it('a client that asks and leaves at once, over and over, keeps nobody else from being served', async () => {
    const agent = new https.Agent({ keepAlive: true, maxSockets: 20, ca: server.api.ca });
    const leave = (at: number) =>
      new Promise<void>((resolve) => {
        const method = at % 2 === 0 ? 'GET' : 'POST';
        const request = https.request({
          host: '127.0.0.1',
          port: server.api.port,
          agent,
          method,
          path: orders,
          headers: { authorization: `Bearer ${server.api.token}`, 'content-type': 'application/json' },
        });
        request.on('error', () => undefined).on('close', resolve);
        if (method === 'POST') request.write('{"apiVersion":');
        else request.end();
        request.on('socket', (socket) => socket.once('secureConnect', () => request.destroy()));
        if (at % 5 === 0) setImmediate(() => request.destroy());
      });
    const leaving = Promise.all(many(100, leave));
    for (let index = 0; index < 5; index++) {
      expect((await server.send('GET', `${orders}/target`)).code).toBe(200);
    }
    await leaving;
    agent.destroy();
    await eventually('the server to be idle', 10_000, () => expect(server.api.watches()).toBe(0));
    expect((await server.send('GET', `${orders}?limit=1`)).code).toBe(200);
  });

  it('connections that say nothing, with and without TLS, keep nobody else from being served', async () => {
    const to = { host: '127.0.0.1', port: server.api.port };
    const silent = many(100, (at) =>
      at % 10 === 0 ? tls.connect({ ...to, ca: server.api.ca }) : net.connect(to),
    );
    for (const socket of silent) socket.on('error', () => undefined);
    await Promise.all(silent.map((socket) => once(socket, 'connect')));
    expect((await server.send('GET', `${orders}/target`)).code).toBe(200);
    for (const socket of silent) socket.destroy();
  });
});
