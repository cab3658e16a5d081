import { once } from 'node:events';
import * as http from 'node:http';
import * as https from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createAuthority } from '../../base/testing/authority.ts';
import { createAddressGuard } from '../http/address-guard.ts';
import { loopbackRanges } from '../http/address-ranges.ts';
import { type ProbeRequest, type ProbeResult, probeServer } from './probe.ts';

const guard = createAddressGuard(loopbackRanges);
const credentials = { username: 'bob', password: 'hunter22-secret' };
const own = `Basic ${Buffer.from('bob:hunter22-secret').toString('base64')}`;
const servers: http.Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

type Answering = (request: http.IncomingMessage, response: http.ServerResponse) => void;

async function listen(server: http.Server): Promise<number> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const authority = await createAuthority('probe test');
const leaf = await authority.issue({ name: 'localhost' }, { hosts: ['localhost'] });
const tls = { ca: authority.cert };

async function secure(answering: Answering): Promise<string> {
  return `https://localhost:${await listen(https.createServer({ key: leaf.key, cert: leaf.cert }, answering))}`;
}

async function plain(answering: Answering): Promise<string> {
  return `http://127.0.0.1:${await listen(http.createServer(answering))}`;
}

function probe(remoteURL: string, more: Partial<ProbeRequest> = {}): Promise<ProbeResult> {
  const { signal } = new AbortController();
  return probeServer({ name: 'mirror', type: 'oci', remoteURL, tls, guard, signal, ...more });
}

/** A registry that asks for Basic credentials, or for a token of `realm`; it notes what it was sent. */
function guarded(challenge: string, sent: unknown[], accepted: string): Answering {
  return ({ url, headers }, response) => {
    sent.push([url, headers.authorization]);
    if (headers.authorization === accepted) response.writeHead(200).end('{}');
    else response.writeHead(401, { 'www-authenticate': challenge }).end();
  };
}

describe('probeServer', () => {
  it('says that a registry answers, and when its certificate expires', async () => {
    const url = await secure((_, response) => response.end('{}'));
    expect(await probe(url)).toEqual({
      reachable: { status: 'True', reason: 'Reachable', message: `${new URL(url).host} responds` },
      authenticated: expect.objectContaining({ status: 'Unknown', reason: 'NotExercised' }),
      certificateExpiry: expect.any(Date),
    });
  });

  it('sends credentials only after a challenge', async () => {
    const sent: unknown[] = [];
    const url = await secure(guarded('Basic realm="r"', sent, own));
    const { authenticated } = await probe(url, { credentials });
    expect(authenticated).toMatchObject({ status: 'True', reason: 'Authenticated' });
    expect(sent).toEqual([
      ['/v2/', undefined],
      ['/v2/', own],
    ]);
  });

  it('gets a token where the registry asks for one', async () => {
    const realm = await secure((request, response) => {
      const ok = request.headers.authorization === own;
      response.writeHead(ok ? 200 : 401).end(ok ? '{"token":"t0ken"}' : '');
    });
    const url = await secure(guarded(`Bearer realm="${realm}/token",service="s"`, [], 'Bearer t0ken'));
    expect((await probe(url, { credentials })).authenticated.reason).toBe('Authenticated');
    const wrong = { ...credentials, password: 'wrong-password' };
    const refused = (await probe(url, { credentials: wrong })).authenticated;
    expect(refused).toMatchObject({ status: 'False', reason: 'Unauthorized' });
    expect(refused.message).not.toContain('wrong-password');
  });

  it('says that credentials are refused, or missing', async () => {
    const url = await secure(guarded('Basic realm="r"', [], 'nobody'));
    expect((await probe(url, { credentials })).authenticated).toMatchObject({
      status: 'False',
      reason: 'Unauthorized',
      message: expect.stringContaining('check the Secret of Endpoint "mirror"'),
    });
    expect((await probe(url)).authenticated).toMatchObject({ status: 'False', reason: 'NoCredentials' });
  });

  it('takes a registry that gives tokens to anybody', async () => {
    const realm = await secure((_, response) => response.end('{"token":"t0ken"}'));
    const url = await secure(guarded(`Bearer realm="${realm}/token"`, [], 'Bearer t0ken'));
    expect((await probe(url)).authenticated).toMatchObject({ status: 'Unknown', reason: 'Anonymous' });
  });

  it('sends no credentials without TLS', async () => {
    const sent: unknown[] = [];
    const url = await plain(guarded('Basic realm="r"', sent, own));
    const { reachable, authenticated } = await probe(url, { credentials });
    expect(reachable.status).toBe('True');
    expect(authenticated).toMatchObject({ status: 'Unknown', reason: 'InsecureTransport' });
    expect(sent).toEqual([['/v2/', undefined]]);
  });

  it('follows no redirect', async () => {
    const sent: unknown[] = [];
    const other = await plain(guarded('Basic', sent, own));
    const url = await plain((_, response) => response.writeHead(307, { location: other }).end());
    expect((await probe(url)).reachable.reason).toBe('Reachable');
    expect(sent).toEqual([]);
  });

  it.each([
    [404, 'Unknown', 'NotFound'],
    [503, 'Unknown', 'ServerError'],
    [429, 'True', 'Reachable'],
  ])('reads the status %d as Reachable=%s, %s', async (status, is, reason) => {
    const url = await plain((_, response) => response.writeHead(status).end());
    expect((await probe(url)).reachable).toMatchObject({ status: is, reason });
  });

  it('tells what is wrong with a connection', async () => {
    const free = await listen(http.createServer());
    servers.pop()?.close();
    const mute = await plain(() => undefined);
    const trusted = await secure((_, response) => response.end());
    const cases: [string, Partial<ProbeRequest>, string, string][] = [
      [`http://127.0.0.1:${free}`, {}, 'ConnectionRefused', 'connection refused: check'],
      ['https://no-such-name.invalid', {}, 'DNSFailure', 'cannot be resolved'],
      [trusted, { tls: {} }, 'TLSError', 'spec.tls.caSecretRef of Endpoint "mirror"'],
      [mute.replace('http:', 'https:'), {}, 'TLSError', 'it does not use TLS'],
      [mute, { signal: AbortSignal.timeout(50) }, 'Timeout', 'did not answer in time'],
      [mute, { guard: createAddressGuard() }, 'TargetDenied', 'may not be reached'],
      [trusted, { guard: createAddressGuard() }, 'TargetDenied', 'localhost is at'],
      [trusted, { tls: { ca: 'none' } }, 'ProbeFailed', 'must be PEM'],
    ];
    for (const [url, more, reason, text] of cases) {
      const { reachable, authenticated } = await probe(url, more);
      expect(reachable, url).toMatchObject({
        status: 'False',
        reason,
        message: expect.stringContaining(text),
      });
      expect(authenticated.status).toBe('Unknown');
    }
  });

  it('asks a Helm repository for its index, and any other server for its URL', async () => {
    const asked: unknown[] = [];
    const url = await plain((request, response) => {
      asked.push(request.url);
      response.end();
    });
    await probe(`${url}/charts`, { type: 'helm' });
    await probe(`${url}/files/`, { type: 'http' });
    expect(asked).toEqual(['/charts/index.yaml', '/files/']);
    expect((await probe('ftp://bucket', { type: 'files' })).reachable).toMatchObject({
      status: 'Unknown',
      reason: 'UnsupportedScheme',
    });
  });

  it.each([
    ['200', undefined, 'True', 'Authenticated', 'accepted the keys'],
    ['403', 'AccessDenied', 'True', 'Authenticated', 'which may not list the bucket'],
    ['403', 'SignatureDoesNotMatch', 'False', 'Unauthorized', 'refused the keys (SignatureDoesNotMatch)'],
    ['500', undefined, 'Unknown', 'Inconclusive', 'answered 500'],
  ])('asks an S3 storage with a signature: %s %s', async (status, code, condition, reason, message) => {
    const url = await plain(({ headers }, response) => {
      const isSigned = headers.authorization?.startsWith('AWS4-HMAC-SHA256 Credential=AKID/') === true;
      response.writeHead(isSigned ? Number(status) : 403);
      response.end(code === undefined ? undefined : `<Error><Code>${code}</Code></Error>`);
    });
    const keys = { accessKeyID: 'AKID', secretAccessKey: 'a-secret-key' };
    const { authenticated } = await probe(`${url}/bucket`, { type: 's3', tls: {}, credentials: keys });
    expect(authenticated).toMatchObject({ status: condition, reason });
    expect(authenticated.message).toContain(message);
  });
});
