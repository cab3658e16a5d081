import { X509Certificate } from 'node:crypto';
import tls from 'node:tls';
import { beforeEach, describe, expect, it } from 'vitest';
import { conduitNamespace, secrets } from '#shared/domain';
import { FakeKube } from '../../test/fixtures/fake-kube.ts';
import { leaves } from './leaves.ts';
import { apiServiceName, apiServices, authoritySecretName, reconcile } from './reconcile.ts';

const { signal } = new AbortController();
const start = new Date('2026-03-01T00:00:00Z');
const later = (days: number) => new Date(start.getTime() + days * 86_400_000);
const service = {
  apiVersion: apiServices.apiVersion,
  kind: 'APIService',
  metadata: { name: apiServiceName },
  spec: {},
};

let api: FakeKube;
beforeEach(() => {
  api = new FakeKube(service);
});

const names = leaves.map(({ secretName }) => secretName);
function text(name: string, entry = 'tls.crt'): string {
  const secret = api.read(secrets, { namespace: conduitNamespace, name });
  return Buffer.from(secret?.data?.[entry] ?? '', 'base64').toString();
}
function overwrite(name: string, data: Record<string, string>): void {
  const secret = api.read(secrets, { namespace: conduitNamespace, name });
  if (secret === undefined) throw new Error(`no Secret ${name}`);
  api.put({ ...secret, data: { ...secret.data, ...data } });
}

describe('reconcile', () => {
  it('makes everything once, and writes nothing more while all is well', async () => {
    expect(await reconcile(api, start, signal)).toEqual([authoritySecretName, ...names, apiServiceName]);
    expect(await reconcile(api, later(200), signal)).toEqual([]);
    const caBundle = api.read(apiServices, { name: apiServiceName })?.spec.caBundle;
    expect(Buffer.from(caBundle ?? '', 'base64').toString()).toBe(text(authoritySecretName));
  });

  it('issues for every host of a leaf, signed by the authority that stands beside it', async () => {
    await reconcile(api, start, signal);
    const authority = new X509Certificate(text(authoritySecretName));
    for (const { secretName, hosts } of leaves) {
      const cert = new X509Certificate(text(secretName));
      expect(cert.verify(authority.publicKey)).toBe(true);
      expect(text(secretName, 'ca.crt')).toBe(text(authoritySecretName));
      const found = { ...cert.toLegacyObject() } as tls.PeerCertificate;
      for (const host of hosts) expect(tls.checkServerIdentity(host, found), host).toBeUndefined();
    }
  });

  it('renews leaves with less than a third of their time left, with the same authority', async () => {
    await reconcile(api, start, signal);
    const before = text(authoritySecretName);
    expect(await reconcile(api, later(260), signal)).toEqual(names);
    expect(text(authoritySecretName)).toBe(before);
    expect(await reconcile(api, later(260), signal)).toEqual([]);
  });

  it('starts anew with an authority that is about to expire', async () => {
    await reconcile(api, start, signal);
    expect(await reconcile(api, later(8.1 * 365), signal)).toEqual([
      authoritySecretName,
      ...names,
      apiServiceName,
    ]);
  });

  it.each([
    ['no PEM', { 'tls.crt': 'AAAA' }],
    ['another authority beside it', { 'ca.crt': 'AAAA' }],
    ['an empty key', { 'tls.key': '' }],
  ])('replaces a leaf with %s', async (_what, data) => {
    await reconcile(api, start, signal);
    overwrite('etcd-peer-tls', data);
    expect(await reconcile(api, start, signal)).toEqual(['etcd-peer-tls']);
  });

  it('replaces a leaf that is for other hosts, or has the key of another', async () => {
    await reconcile(api, start, signal);
    const other = api.read(secrets, { namespace: conduitNamespace, name: 'etcd-server-tls' })?.data ?? {};
    overwrite('api-server-tls', other);
    overwrite('etcd-peer-tls', { 'tls.key': other['tls.key'] ?? '' });
    expect(await reconcile(api, start, signal)).toEqual(['api-server-tls', 'etcd-peer-tls']);
  });

  it('says so when there is no APIService', async () => {
    api = new FakeKube();
    await expect(reconcile(api, start, signal)).rejects.toThrow(apiServiceName);
  });
});
