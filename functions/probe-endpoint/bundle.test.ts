import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { conduitNamespace, configMaps, endpoints, settingsName } from '#shared/domain';
import { createAddressGuard, probeServer } from '#shared/transfer';
import { contextOf, eventOf } from '../../shared/conduit/runtime/testing/handler-context.ts';
import { endpoint, secret } from '../../shared/domain/testing/objects.ts';
import { FakeApi } from '../../shared/kubernetes/client/testing/fake-api/fake-api.ts';
import { startS3Server } from '../../shared/transfer/testing/s3-server.ts';
import { handle } from './index.ts';

const { privateKey } = generateKeyPairSync('ed25519');
const sign = { 'sign.key': String(privateKey.export({ format: 'pem', type: 'pkcs8' })) };
const keys = { accessKeyID: 'account', secretAccessKey: 'kept secret' };

/** The reasons of the conditions of an Endpoint for bundles with this place and Secret, and all that they say. */
async function probed(remoteURL: string, data: Record<string, string>) {
  const one = endpoint('disk', { type: 'bundle', remoteURL, secretRef: { name: 'keys' } });
  const settings = { 'probes.allowedRanges': '127.0.0.0/8' };
  const api = new FakeApi([one, secret('keys', data)]);
  const metadata = { name: settingsName, namespace: conduitNamespace };
  api.put({ apiVersion: configMaps.apiVersion, kind: configMaps.kind, metadata, data: settings });
  await handle(contextOf(api, new Date('2026-01-02T00:00:00Z')), eventOf(one));
  const conditions = api.read(endpoints, one.metadata)?.status?.conditions ?? [];
  const reasons = Object.fromEntries(conditions.map(({ type, reason }) => [type, reason]));
  return { reasons, text: JSON.stringify(conditions) };
}

async function storage() {
  const server = await startS3Server({ accessKeyID: keys.accessKeyID });
  onTestFinished(() => server.close());
  server.objects.set('/bundles/release', { bytes: Buffer.alloc(0), etag: '"1"', headers: {} });
  return `${server.url}/bundles/release`;
}

describe('the probe of an Endpoint for bundles', () => {
  it('tries the keys of its storage', async () => {
    const { reasons, text } = await probed(await storage(), { ...sign, ...keys });
    expect(reasons).toMatchObject({
      Validated: 'Valid',
      Reachable: 'Reachable',
      Authenticated: 'Authenticated',
      Ready: 'Ready',
    });
    expect(text).not.toContain(keys.secretAccessKey);
  });

  it('says that its storage refuses the keys', async () => {
    const { reasons, text } = await probed(await storage(), { ...sign, ...keys, accessKeyID: 'nobody' });
    expect(reasons).toMatchObject({ Authenticated: 'Unauthorized', Ready: 'Unauthorized' });
    expect(text).toContain('refused the keys (InvalidAccessKeyId): check the Secret of Endpoint \\"disk\\"');
  });

  it('asks nobody about a folder', async () => {
    expect((await probed('file:///release', sign)).reasons).toMatchObject({ Reachable: 'NotProbed' });
  });

  it.each([
    ['s3://releases/air-gap', undefined, 'releases.s3.us-east-1.amazonaws.com'],
    ['s3://releases.example/air-gap', undefined, 's3.us-east-1.amazonaws.com'],
    ['s3://releases/air-gap', 'eu-central-1', 'releases.s3.eu-central-1.amazonaws.com'],
  ])('asks AWS about %s with the region %s', async (remoteURL, region, host) => {
    const names: string[] = [];
    const { reachable } = await probeServer({
      name: 'disk',
      type: 'bundle',
      remoteURL,
      credentials: { ...keys, ...(region && { region }) },
      guard: {
        ...createAddressGuard(),
        lookup(name, _, callback) {
          names.push(name);
          // No test asks AWS itself.
          callback(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), []);
        },
      },
      signal: AbortSignal.timeout(10_000),
    });
    expect(names).toEqual([host]);
    expect(reachable).toMatchObject({ status: 'False', reason: 'DNSFailure' });
  });
});
