import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { deafServer, silentServer } from '../../../test/fixtures/http/black-hole.ts';
import { limitConnect } from './limit-connect.ts';

const closers: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

describe('limitConnect', () => {
  it('ends a request to an address that does not answer the connect', async () => {
    const hole = await deafServer();
    closers.push(hole.close);
    const sent = request(hole);
    limitConnect(sent, 100);
    sent.end();
    const [error] = await once(sent, 'error').catch((caught: unknown) => [caught]);
    expect(error).toMatchObject({
      code: 'ETIMEDOUT',
      message: `no connection to 127.0.0.1:${hole.port} within 0.1 s (TLS handshake included)`,
    });
  });

  it('ends a request to a server that accepts and never answers the TLS handshake', async () => {
    const hole = await silentServer();
    closers.push(hole.close);
    const sent = httpsRequest(hole);
    limitConnect(sent, 100);
    sent.end();
    const [error] = await once(sent, 'error').catch((caught: unknown) => [caught]);
    expect(error).toMatchObject({ code: 'ETIMEDOUT' });
  });

  it('leaves alone a connection that is established, however long the answer takes', async () => {
    const server = createServer((_, response) => setTimeout(() => response.end(), 300));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    closers.push(
      () => server.close(),
      () => server.closeAllConnections(),
    );
    const agent = new Agent({ keepAlive: true });
    closers.push(() => agent.destroy());
    for (let turn = 0; turn < 2; turn++) {
      const sent = request({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, agent });
      limitConnect(sent, 100);
      sent.end();
      const [response] = await once(sent, 'response');
      expect(response.statusCode).toBe(200);
      response.resume();
    }
  });
});
