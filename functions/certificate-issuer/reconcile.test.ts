import { X509Certificate } from 'node:crypto';
import tls from 'node:tls';
import { beforeEach, describe, expect, it } from 'vitest';
import { conduitNamespace, secrets } from '#shared/domain';
import { FakeApi } from '../../shared/kubernetes/client/testing/fake-api/fake-api.ts';
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

let api: FakeApi;
beforeEach(() => {
  api = new FakeApi([service]);
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

const writtenAt = async (now: Date) => (await reconcile(api.client, now, signal)).written;
const trim = (pem: string) => pem.trim();
function certificatesIn(bundle: string): string[] {
  return bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
}
/** The authority, of those we know, that has signed each leaf. */
function signers(): (string | undefined)[] {
  const known = ['tls.crt', 'next.crt', 'former.crt'].map((entry) => text(authoritySecretName, entry));
  return names.map((name) => {
    const leaf = new X509Certificate(text(name));
    return known.find((pem) => pem !== '' && leaf.verify(new X509Certificate(pem).publicKey));
  });
}

describe('reconcile', () => {
  it('makes every certificate once, and writes nothing while none has to change', async () => {
    expect(await writtenAt(start)).toEqual([authoritySecretName, ...names, apiServiceName]);
    expect(await writtenAt(later(200))).toEqual([]);
    const caBundle = api.read(apiServices, { name: apiServiceName })?.spec.caBundle;
    expect(Buffer.from(caBundle ?? '', 'base64').toString()).toBe(text(authoritySecretName));
  });

  it('issues for every host of a leaf, signed by the authority beside it', async () => {
    await reconcile(api.client, start, signal);
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
    await reconcile(api.client, start, signal);
    const before = text(authoritySecretName);
    expect(await writtenAt(later(260))).toEqual(names);
    expect(text(authoritySecretName)).toBe(before);
    expect(await writtenAt(later(260))).toEqual([]);
  });

  it('moves to another authority in steps a year apart: it is known, then signs, then is alone', async () => {
    await reconcile(api.client, start, signal);
    const first = text(authoritySecretName);
    const everything = [authoritySecretName, ...names, apiServiceName];

    expect(await writtenAt(later(7.1 * 365))).toEqual(everything);
    const next = text(authoritySecretName, 'next.crt');
    expect(text(authoritySecretName)).toBe(first);
    expect(signers()).toEqual(names.map(() => first));
    for (const name of names) expect(certificatesIn(text(name, 'ca.crt'))).toEqual([first, next].map(trim));
    const { written, signsNext } = await reconcile(api.client, later(7.2 * 365), signal);
    expect([written, signsNext]).toEqual([[], new X509Certificate(next).validFrom]);

    expect(await writtenAt(later(8.1 * 365))).toEqual(everything);
    expect(text(authoritySecretName)).toBe(next);
    expect(signers()).toEqual(names.map(() => next));
    for (const name of names) expect(certificatesIn(text(name, 'ca.crt'))).toEqual([next, first].map(trim));
    const caBundle = api.read(apiServices, { name: apiServiceName })?.spec.caBundle ?? '';
    expect(certificatesIn(Buffer.from(caBundle, 'base64').toString())).toEqual([next, first].map(trim));

    expect(await writtenAt(later(10.1 * 365))).toEqual(everything);
    for (const name of names) expect(text(name, 'ca.crt')).toBe(next);
    expect(await writtenAt(later(10.1 * 365))).toEqual([]);
  });

  it('starts with another authority at once when the one that signs is damaged', async () => {
    await reconcile(api.client, start, signal);
    overwrite(authoritySecretName, { 'tls.key': '' });
    expect(await writtenAt(start)).toEqual([authoritySecretName, ...names, apiServiceName]);
    expect(await writtenAt(start)).toEqual([]);
  });

  it.each([
    ['no PEM', { 'tls.crt': 'AAAA' }],
    ['another authority beside it', { 'ca.crt': 'AAAA' }],
    ['an empty key', { 'tls.key': '' }],
  ])('replaces a leaf with %s', async (_what, data) => {
    await reconcile(api.client, start, signal);
    overwrite('etcd-peer-tls', data);
    expect(await writtenAt(start)).toEqual(['etcd-peer-tls']);
  });

  it('replaces a leaf that is for other hosts or has another key', async () => {
    await reconcile(api.client, start, signal);
    const other = api.read(secrets, { namespace: conduitNamespace, name: 'etcd-server-tls' })?.data ?? {};
    overwrite('api-server-tls', other);
    overwrite('etcd-peer-tls', { 'tls.key': other['tls.key'] ?? '' });
    expect(await writtenAt(start)).toEqual(['api-server-tls', 'etcd-peer-tls']);
  });

  it('names the APIService that is missing', async () => {
    api = new FakeApi();
    await expect(reconcile(api.client, start, signal)).rejects.toThrow(apiServiceName);
  });
});
