import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { deafServer, silentServer } from '../../../../test/fixtures/http/black-hole.ts';
import { functionAccess } from '../access.ts';
import { createKubeClient } from '../create-client.ts';
import { nodeFetch } from './node-fetch.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const kind = { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };

describe('the API client of a function', () => {
  it.each([
    ['does not answer the connect', 'http', deafServer],
    ['accepts and does not answer the TLS handshake', 'https', silentServer],
  ])('gives up within 2 s on an API server that %s', async (_, scheme, open) => {
    const hole = await open();
    closers.push(() => hole.close());
    const folder = await mkdtemp(path.join(tmpdir(), 'arc-fetch-'));
    closers.push(() => rm(folder, { recursive: true }));
    const ARC_TOKEN_FILE = path.join(folder, 'token');
    await writeFile(ARC_TOKEN_FILE, 'token');
    const access = await functionAccess({
      ARC_API_SERVER: `${scheme}://127.0.0.1:${hole.port}`,
      ARC_TOKEN_FILE,
    });
    await expect(
      createKubeClient({ ...access, userAgent: 'unit' }).get(kind, { name: 'a' }),
    ).rejects.toMatchObject({
      code: 'ServiceUnavailable',
      message: expect.stringContaining(`no connection to 127.0.0.1:${hole.port} within 2 s`),
    });
  });
});

describe('nodeFetch', () => {
  const init = { method: 'GET', headers: {}, body: null, redirect: 'manual' } as const;

  it('reuses its connection, and ends the request when it is aborted', async () => {
    let connections = 0;
    const server = createServer((request, response) => {
      if (request.url === '/endless') response.write('more');
      else response.end('done');
    }).on('connection', () => {
      connections += 1;
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    closers.push(() => server.close().closeAllConnections());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const fetch = nodeFetch(2_000);
    const control = new AbortController();
    const ask = (where: string) => fetch(`${url}${where}`, { ...init, signal: control.signal });
    for (let turn = 0; turn < 3; turn++) expect(await (await ask('/')).text()).toBe('done');
    expect(connections).toBe(1);
    const endless = await ask('/endless');
    control.abort();
    await expect(endless.text()).rejects.toThrow();
    await expect(ask('/')).rejects.toThrow();
  });

  it('rejects where the server switches the protocol', async () => {
    const text = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n';
    const server = createTcpServer((socket) => socket.once('data', () => socket.end(text)));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    closers.push(() => server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const answer = nodeFetch(2_000)(url, { ...init, signal: AbortSignal.timeout(5_000) });
    await expect(answer).rejects.toThrow('the connection ended before the answer began');
  });

  it('rejects with the error of a body that is too long for a string', async () => {
    const server = createServer((_request, response) => void response.write('a', () => response.end('b')));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    closers.push(() => server.close().closeAllConnections());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const answer = await nodeFetch(2_000)(url, { ...init, signal: AbortSignal.timeout(5_000) });
    // Half a gigabyte, which would take a test too long.
    const concat = vi.spyOn(Buffer, 'concat').mockImplementation(() => {
      throw new Error('Cannot create a string longer than 0x1fffffe8 characters');
    });
    closers.push(() => concat.mockRestore());
    await expect(answer.text()).rejects.toThrow('Cannot create a string longer');
  });

  it.each([
    ['/a/b?c=d%20e&f=g/h', '/a/b?c=d%20e&f=g/h'],
    ['?c=d', '/?c=d'],
    ['', '/'],
    ['/a b/../ä#c', '/ä'],
    ['/a/./b', '/a/b'],
    ['/a/%2E%2e/b', '/b'],
    ['/a.b/c', '/a.b/c'],
  ])('requests %s like the URL parser', async (where, asked) => {
    const server = createServer((request, response) => void response.end(request.url));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    closers.push(() => server.close().closeAllConnections());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const answer = await nodeFetch(2_000)(`${url}${where}`, { ...init, signal: AbortSignal.timeout(5_000) });
    expect(await answer.text()).toBe(encodeURI(asked).replaceAll('%25', '%'));
  });
});
