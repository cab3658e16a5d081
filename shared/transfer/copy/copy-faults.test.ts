import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { generate } from 'selfsigned';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FaultRule, type Registry, seedImage, startRegistry } from '../../local/registry/index.ts';
import type { TransferError } from '../errors/transfer-error.ts';
import type { TlsSettings } from '../reference/address.ts';
import { type CopyRequest, copyImage } from '../testing/copy-image.ts';
import { transferFailure } from '../testing/transfer-failure.ts';

const password = 'hunter22-secret';
const account = { username: 'bob', password };
const layerBytes = 1_500_000;
const blobGet = { method: 'GET', path: /\/blobs\// } as const;
let workDir = '';
let source: Registry;
let destination: Registry;
let layer = '';
let config = '';

beforeEach(async () => {
  workDir = await mkdtemp(path.join(os.tmpdir(), 'arc-faults-'));
  source = await startRegistry({ auth: 'basic', ...account });
  destination = await startRegistry({ auth: 'bearer', ...account });
  const seeded = await seedImage(source, 'team/app', '1.0', {
    platforms: ['linux/amd64'],
    layers: 2,
    layerBytes,
  });
  layer = seeded.blobs[0] ?? '';
  config = seeded.blobs[2] ?? '';
});
afterEach(async () => {
  await Promise.all([source.close(), destination.close()]);
  await rm(workDir, { recursive: true });
});

function copy(overrides: Partial<CopyRequest> = {}) {
  return copyImage({
    source: { name: 'src', remoteURL: source.url, image: 'team/app:1.0', credentials: account },
    destination: { name: 'dst', remoteURL: destination.url, image: 'mirror/app:1.0', credentials: account },
    signal: new AbortController().signal,
    workDir,
    retry: { attempts: 3, baseMs: 2, maxMs: 5 },
    ...overrides,
  });
}

/** The failure, which leaves nothing at the destination and no secret in its message. */
async function failure(copying: Promise<unknown>): Promise<TransferError> {
  const error = await transferFailure(copying);
  const forms = [password, Buffer.from(`bob:${password}`).toString('base64')];
  for (const form of forms) expect(error.message).not.toContain(form);
  expect(destination.contents.get('mirror/app')?.tags.size ?? 0).toBe(0);
  return error;
}

describe('a transient fault', () => {
  const transient: [string, 'source' | 'destination', FaultRule][] = [
    ['429 with Retry-After', 'source', { times: 2, fault: { kind: 'status', status: 429, retryAfter: '0' } }],
    [
      '429 without Retry-After',
      'destination',
      { method: 'PUT', times: 2, fault: { kind: 'status', status: 429 } },
    ],
    ['503', 'source', { times: 2, fault: { kind: 'status', status: 503 } }],
    [
      '500 on a manifest',
      'destination',
      { method: 'PUT', path: /manifests/, times: 2, fault: { kind: 'status', status: 500 } },
    ],
    ['a reset connection', 'source', { ...blobGet, times: 2, fault: { kind: 'reset' } }],
    ['a reset upload', 'destination', { method: 'PUT', path: /uploads/, times: 2, fault: { kind: 'reset' } }],
    [
      'an upload refused with 502',
      'destination',
      { method: 'PUT', path: /uploads/, times: 2, fault: { kind: 'status', status: 502 } },
    ],
    ['an interrupted blob', 'source', { ...blobGet, times: 2, fault: { kind: 'truncate', bytes: 10 } }],
    [
      'an interrupted manifest',
      'source',
      { method: 'GET', path: /manifests/, times: 2, fault: { kind: 'truncate', bytes: 20 } },
    ],
    ['a slow drip', 'source', { ...blobGet, times: 1, fault: { kind: 'drip', bytes: 200_000, everyMs: 1 } }],
  ];

  it.each(transient)('is overcome: %s', async (_, side, rule) => {
    (side === 'source' ? source : destination).faults.add(rule);
    expect((await copy()).referrers).toBe(1);
  });

  it('does not restart an interrupted blob from its beginning', async () => {
    source.faults.add({
      method: 'GET',
      path: new RegExp(layer),
      times: 1,
      fault: { kind: 'truncate', bytes: 100_000 },
    });
    await copy();
    expect(source.requests.filter(({ status }) => status === 206)).toHaveLength(1);
  });

  it('in the upload of a small blob does not download it again', async () => {
    destination.faults.add({
      method: 'PUT',
      path: new RegExp(`uploads/.*${config.replace(':', '(?::|%3A)')}`),
      times: 2,
      fault: { kind: 'status', status: 500 },
    });
    const { blobs } = await copy();
    expect(source.count('GET', /\/blobs\//)).toBe(blobs.copied);
  });

  it('such as an expired token is overcome with a new token', async () => {
    await copy();
    destination.contents.clear();
    let revoked = false;
    const revoking = copy({
      progress: (done, total) => {
        if (revoked || done <= total / 2) return;
        revoked = true;
        destination.revokeTokens();
      },
    });
    expect((await revoking).referrers).toBe(1);
    expect(revoked).toBe(true);
  });
});

describe('a permanent fault fails with a useful message', () => {
  const status = (code: number, more: Partial<FaultRule> = {}): FaultRule => ({
    fault: { kind: 'status', status: code },
    ...more,
  });
  const permanent: [string, 'source' | 'destination', FaultRule, string, RegExp][] = [
    [
      '403',
      'destination',
      status(403, { method: 'POST' }),
      'denied',
      /Registry 127.* answered 403 .*mirror\/app.* may not push to/,
    ],
    ['429', 'source', status(429), 'retryable', /answered 429 .*limits the rate .*tried 3 times/],
    ['500', 'destination', status(500, { method: 'PUT' }), 'retryable', /answered 500 while .* mirror\/app/],
    ['413', 'destination', status(413, { method: 'PUT' }), 'permanent', /answered 413.*raise the limit/],
    [
      '404 for a blob',
      'source',
      status(404, blobGet),
      'permanent',
      /answered 404 while reading blob sha256:/,
    ],
    [
      'an interrupted blob',
      'source',
      { ...blobGet, fault: { kind: 'truncate', bytes: 0 } },
      'retryable',
      /Blob sha256:.* ended after 0 bytes of [\d.]+ \S+/,
    ],
    [
      'a wrong digest',
      'source',
      { ...blobGet, fault: { kind: 'corrupt' } },
      'permanent',
      /Blob .* has the wrong content: its digest is sha256:/,
    ],
    [
      'a wrong manifest',
      'source',
      { path: /manifests\/sha256/, fault: { kind: 'corrupt' } },
      'permanent',
      /manifest/,
    ],
    [
      'a reset',
      'source',
      { fault: { kind: 'reset' } },
      'retryable',
      /could not be reached .*ECONNRESET.*Endpoint "src"/,
    ],
    ['silence', 'source', { fault: { kind: 'hang' } }, 'retryable', /ETIMEDOUT/],
  ];

  it.each(permanent)('for %s', async (_, side, rule, reason, message) => {
    (side === 'source' ? source : destination).faults.add(rule);
    const error = await failure(copy({ timeouts: { requestMs: 300, idleMs: 300 } }));
    expect(error.message).toMatch(message);
    expect(error.reason).toBe(reason);
  });

  it('for 401 with the user and the Endpoint', async () => {
    const wrong = { username: 'bob', password: 'wrong-password' };
    const error = await failure(
      copy({ source: { name: 'src', remoteURL: source.url, image: 'team/app:1.0', credentials: wrong } }),
    );
    expect(error).toMatchObject({
      reason: 'auth',
      message: expect.stringMatching(/401.*user "bob".*Endpoint "src"/),
    });
    expect(error.message).not.toContain('wrong-password');
  });

  it('for 401 from the token service and for 401 without credentials', async () => {
    const wrong = { username: 'bob', password: 'wrong-password' };
    const to = { name: 'dst', remoteURL: destination.url, image: 'mirror/app:1.0' };
    const refused = await failure(copy({ destination: { ...to, credentials: wrong } }));
    expect(refused).toMatchObject({ reason: 'auth', message: expect.stringContaining('token service') });
    const anonymous = await failure(
      copy({ source: { name: 'src', remoteURL: source.url, image: 'team/app:1.0' } }),
    );
    expect(anonymous).toMatchObject({ reason: 'auth', message: expect.stringContaining('spec.secretRef') });
  });

  it('for an image that does not exist', async () => {
    const error = await failure(
      copy({ source: { name: 'src', remoteURL: source.url, image: 'team/app:9.9', credentials: account } }),
    );
    expect(error).toMatchObject({
      reason: 'permanent',
      message: expect.stringMatching(/team\/app:9\.9 does not exist in registry .*404/),
    });
  });

  it('for a registry that does not exist', async () => {
    const gone = await startRegistry();
    await gone.close();
    const error = await failure(
      copy({ source: { name: 'src', remoteURL: gone.url, image: 'team/app:1.0' } }),
    );
    expect(error).toMatchObject({ reason: 'retryable', message: expect.stringContaining('ECONNREFUSED') });
  });

  it('without the credentials that a registry echoes', async () => {
    const message = `bad header Basic ${Buffer.from(`bob:${password}`).toString('base64')} of ${password}`;
    source.faults.add({ fault: { kind: 'status', status: 400, message } });
    expect((await failure(copy())).message).toContain('***');
  });

  it('for an unusable temporary folder', async () => {
    const error = await failure(copy({ workDir: '/dev/null/arc' }));
    expect(error).toMatchObject({
      reason: 'retryable',
      message: expect.stringContaining('temporary folder'),
    });
  });

  it('for an aborted copy', async () => {
    const controller = new AbortController();
    source.faults.add({ ...blobGet, fault: { kind: 'hang' } });
    const copying = copy({
      signal: controller.signal,
      progress: () => setImmediate(() => controller.abort()),
    });
    expect(await failure(copying)).toMatchObject({
      reason: 'retryable',
      message: expect.stringContaining('stopped'),
    });
  });
});

describe('a redirect to another host', () => {
  it('is followed without the credentials', async () => {
    const store = await startRegistry();
    await seedImage(store, 'team/app', '1.0', { platforms: ['linux/amd64'], layers: 2, layerBytes });
    const blob = [...(source.contents.get('team/app')?.blobs.keys() ?? [])][0] ?? '';
    const to = `${store.url}/v2/team/app/blobs/${blob}`;
    source.faults.add({ method: 'GET', path: new RegExp(blob), fault: { kind: 'redirect', to } });
    const redirectHosts = [new URL(store.url).host];
    const from = { name: 'src', remoteURL: source.url, image: 'team/app:1.0', credentials: account };
    await copy({ source: { ...from, redirectHosts } });
    expect(store.requests).toMatchObject([{ method: 'GET', status: 200, authorized: false }]);
    await store.close();
  });
});

describe('a rate limit', () => {
  it('is shared with other copies on the same machine', async () => {
    const waitsDir = path.join(workDir, 'waits');
    source.faults.add({ times: 1, fault: { kind: 'status', status: 429, retryAfter: '2' } });
    const first = copy({ waitsDir });
    await expect.poll(() => existsSync(waitsDir), { timeout: 10_000 }).toBe(true);
    const told = Date.now();
    const other = {
      name: 'dst',
      remoteURL: destination.url,
      image: 'mirror/other:1.0',
      credentials: account,
    };
    let begun = 0;
    const second = copy({ waitsDir, destination: other, progress: () => (begun ||= Date.now()) });
    await Promise.all([first, second]);
    // The wait is in whole seconds, from when the first was told.
    expect(begun - told).toBeGreaterThan(1_000);
  });

  it('for one account does not delay another on the same machine', async () => {
    const waitsDir = path.join(workDir, 'waits');
    const open = await startRegistry({ auth: 'none' });
    await seedImage(open, 'team/app', '1.0');
    open.faults.add({ times: 1, fault: { kind: 'status', status: 429, retryAfter: '60' } });
    const from = (username: string) => ({
      name: 'src',
      remoteURL: open.url,
      image: 'team/app:1.0',
      credentials: { username, password },
    });
    const stop = new AbortController();
    const first = copy({ waitsDir, source: from('bob'), signal: stop.signal });
    const ended = expect(first).rejects.toThrow();
    await expect.poll(() => existsSync(waitsDir), { timeout: 10_000 }).toBe(true);
    await copy({ waitsDir, source: from('mo') });
    expect(destination.contents.get('mirror/app')?.tags.size).toBe(1);
    stop.abort();
    await ended;
    await open.close();
  });
});

describe('TLS', () => {
  async function copyByTls(tls: TlsSettings | undefined): Promise<unknown> {
    const pair = await generate([{ name: 'commonName', value: '127.0.0.1' }], {
      extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
    });
    const secure = await startRegistry({ tls: { key: pair.private, cert: pair.cert } });
    await seedImage(secure, 'team/app', '1.0');
    const trusted = tls?.ca === undefined ? tls : { ca: tls.ca.replace('own', pair.cert) };
    const from = {
      name: 'src',
      remoteURL: secure.url,
      image: 'team/app:1.0',
      ...(trusted ? { tls: trusted } : {}),
    };
    return copy({ source: from }).finally(() => secure.close());
  }

  it('trusts the CA of the Endpoint, or skips the check if the Endpoint allows it', async () => {
    expect(await copyByTls({ ca: 'a comment\nown\nown' })).toMatchObject({ referrers: 1 });
    destination.contents.clear();
    expect(await copyByTls({ insecureSkipVerify: true })).toMatchObject({ referrers: 1 });
  });

  it('rejects malformed CA certificates before any request', async () => {
    const damaged = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
    for (const ca of ['', 'junk', damaged, `own\n${damaged}`])
      expect(await failure(copyByTls({ ca }))).toMatchObject({
        reason: 'config',
        message: expect.stringContaining('must be PEM'),
      });
  });

  it('reports an untrusted certificate as a configuration error, with the field', async () => {
    const error = await failure(copyByTls(undefined));
    expect(error).toMatchObject({
      reason: 'config',
      message: expect.stringContaining('spec.tls.caSecretRef'),
    });
  });

  it('reports a registry that uses plain HTTP', async () => {
    const from = { name: 'src', remoteURL: `https://${source.host}`, image: 'team/app:1.0' };
    const error = await failure(copy({ source: from }));
    expect(error).toMatchObject({ reason: 'config', message: expect.stringContaining('plainHTTP') });
  });
});
