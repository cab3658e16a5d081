import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TransferError } from '../errors/transfer-error.ts';
import { resolveDigest } from '../oci/resolve-digest.ts';
import { proxyVariables } from './proxy-env.ts';

describe('the proxy variables', () => {
  it.each([
    [{ HTTP_PROXY: 'proxy:3128' }, { HTTP_PROXY: 'http://proxy:3128' }],
    [{ https_proxy: 'http://u:p@proxy' }, { HTTPS_PROXY: 'http://u:p@proxy' }],
    [{ HTTPS_PROXY: '', https_proxy: 'https://proxy' }, { HTTPS_PROXY: 'https://proxy' }],
    [{}, {}],
  ])('of %j are read', (env, variables) => {
    expect(proxyVariables(env)).toEqual({ NO_PROXY: expect.any(String), ...variables });
  });

  it.each([
    ['10.1.2.3/8', '10.0.0.0-10.255.255.255'],
    ['192.0.2.0/25', '192.0.2.0-192.0.2.127'],
    ['0.0.0.0/0', '0.0.0.0-255.255.255.255'],
    ['10.0.0.1/32', '10.0.0.1-10.0.0.1'],
    ['10.0.0.0/33', '10.0.0.0/33'],
    ['.svc', '.svc'],
    ['*', '*'],
    ['registry.corp-1.example', 'registry.corp-1.example,.registry.corp-1.example'],
    ['localhost:5000', 'localhost:5000'],
    ['10.0.0.1', '10.0.0.1'],
  ])('keep %s out of the proxy as %s', (entry, known) => {
    const { NO_PROXY } = proxyVariables({ NO_PROXY: `a.b:1, ${entry}` });
    expect(NO_PROXY).toBe(`a.b:1,${known},localhost,127.0.0.1,[::1],::1`);
  });

  it.each(['socks5://u:secret-pw@proxy', '::secret-pw'])(
    'with %s are refused without showing it',
    (value) => {
      const refused = (): unknown => proxyVariables({ HTTPS_PROXY: value });
      expect(refused).toThrow(TransferError);
      expect(refused).toThrow(/^((?!secret-pw).)*HTTPS_PROXY((?!secret-pw).)*$/);
    },
  );
});

describe('a proxy', () => {
  const asked: string[] = [];
  const proxy = http.createServer((request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(404).end();
  });
  let address = '';
  beforeAll(async () => {
    proxy.on('connect', (_, socket) => {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    address = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    proxy.closeAllConnections();
    proxy.close();
    await once(proxy, 'close');
  });

  function find(remoteURL: string, proxyEnv: Record<string, string>, requestMs = 20_000): Promise<string> {
    const options = { retry: { attempts: 1 }, timeouts: { requestMs } };
    const signal = new AbortController().signal;
    return resolveDigest({ remoteURL, image: 'team/app:1', proxyEnv, ...options }, signal);
  }

  // Addresses that are set aside for documentation (RFC 5737): nobody answers there.
  it('receives the requests to a registry unless a network of NO_PROXY contains it', async () => {
    const variables = { HTTP_PROXY: address, NO_PROXY: '192.0.2.0/24' };
    await expect(find('http://192.0.2.7', variables, 100)).rejects.toThrow(TransferError);
    expect(asked).toEqual([]);
    await expect(find('http://198.51.100.7', variables)).rejects.toThrow('404');
    expect(asked).toEqual(['http://198.51.100.7/v2/team/app/manifests/1']);
  });

  it('that requires credentials is named in the message, without the given credentials', async () => {
    const refused = find('https://198.51.100.7', { HTTPS_PROXY: `http://u:secret-pw@${address}` });
    await expect(refused).rejects.toThrow(/^((?!secret-pw).)*proxy.*407((?!secret-pw).)*$/);
    await expect(refused).rejects.toMatchObject({ reason: 'config' });
  });
});
