import { describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { endpoints, secrets } from '#shared/domain';
import { contextOf, eventOf } from '../../shared/conduit/runtime/testing/handler-context.ts';
import { endpoint, namespace, secret } from '../../shared/domain/testing/objects.ts';
import { FakeApi } from '../../shared/kubernetes/client/testing/fake-api/fake-api.ts';
import { handle } from './index.ts';

const plain = { ...endpoint('plain'), status: {} };
const guarded = { ...endpoint('guarded', { secretRef: { name: 'login' } }), status: {} };
const key = { namespace, name: 'guarded' };
const keySecret = { namespace: 'arc-system', name: 'arc-credential-key' };

function look(api: FakeApi, one = guarded): Promise<undefined> {
  return handle(contextOf(api), eventOf(one));
}

describe('track-credentials', () => {
  it('records the generation of an Endpoint without credentials', async () => {
    const api = new FakeApi([plain]);
    await look(api, plain);
    expect(api.read(endpoints, plain.metadata)?.status).toEqual({ observedGeneration: 1 });
  });

  it('counts the first credentials as 1 and stores no part of them', async () => {
    const api = new FakeApi([guarded, secret('login', { username: 'u', password: 'hunter2' })]);
    await look(api);
    const status = api.read(endpoints, key)?.status;
    expect(status).toMatchObject({ observedGeneration: 1, secretGeneration: 1 });
    expect(JSON.stringify(status)).not.toContain('hunter2');
  });

  it('takes a Secret that it may not read for absent, and keeps the counter', async () => {
    const api = new FakeApi([guarded, secret('login', { username: 'u', password: 'p' })]);
    const refuse = () => {
      api.before = ({ resource, name }) => {
        if (resource === 'secrets' && name === 'login')
          throw new ArcError('Forbidden', 'secrets is forbidden');
      };
    };
    refuse();
    await look(api);
    expect(api.read(endpoints, key)?.status).toMatchObject({ observedGeneration: 1 });
    expect(api.read(endpoints, key)?.status).not.toHaveProperty('secretGeneration');
    api.before = () => undefined;
    await look(api);
    refuse();
    await look(api);
    expect(api.read(endpoints, key)?.status?.secretGeneration).toBe(1);
  });

  it('writes nothing while the data stays the same, even if labels change', async () => {
    const login = secret('login', { username: 'u', password: 'p' });
    const api = new FakeApi([guarded, login]);
    await look(api);
    const before = api.writes.length;
    api.put({ ...login, metadata: { ...login.metadata, labels: { touched: 'yes' } } });
    await look(api);
    expect(api.writes.length).toBe(before);
  });

  it('raises the counter when the data changes', async () => {
    const api = new FakeApi([guarded, secret('login', { username: 'u', password: 'p' })]);
    await look(api);
    api.put(secret('login', { username: 'u', password: 'other' }));
    await look(api);
    expect(api.read(endpoints, key)?.status?.secretGeneration).toBe(2);
  });

  it('computes a new digest for a new key without raising the counter', async () => {
    const api = new FakeApi([guarded, secret('login', { username: 'u', password: 'p' })]);
    await look(api);
    const before = api.read(endpoints, key)?.status;
    await api.client.delete(secrets, keySecret);
    await look(api);
    const after = api.read(endpoints, key)?.status;
    expect(after?.secretGeneration).toBe(1);
    expect(after?.credentialDigest).not.toBe(before?.credentialDigest);
  });

  it('digests one password differently in each installation, with a random key that no viewer can read', async () => {
    const digests = new Set<string>();
    for (const installation of [1, 2]) {
      const api = new FakeApi([guarded, secret('login', { username: 'u', password: 'guessed' })]);
      await look(api);
      const [id = '', digest = ''] = api.read(endpoints, key)?.status?.credentialDigest?.split(':') ?? [];
      const made = Buffer.from(api.read(secrets, keySecret)?.data?.key ?? '', 'base64');
      expect([installation, made.length]).toEqual([installation, 32]);
      expect(id).not.toContain(made.toString('hex').slice(0, 8));
      digests.add(digest);
    }
    expect(digests.size).toBe(2);
  });

  it('accepts a missing Secret and counts it when it appears', async () => {
    const api = new FakeApi([guarded]);
    await look(api, guarded);
    expect(api.read(endpoints, key)?.status?.secretGeneration).toBeUndefined();
    api.put(secret('login', { username: 'u', password: 'p' }));
    await look(api);
    expect(api.read(endpoints, key)?.status?.secretGeneration).toBe(1);
  });

  it('raises the counter when the certificate authorities change', async () => {
    const tls = { caSecretRef: { name: 'authority' } };
    const both = { ...endpoint('guarded', { secretRef: { name: 'login' }, tls }), status: {} };
    const login = secret('login', { username: 'u', password: 'p' });
    const api = new FakeApi([both, login, secret('authority', { 'ca.crt': 'one' })]);
    await look(api, both);
    expect(api.read(endpoints, key)?.status?.secretGeneration).toBe(1);
    api.put(secret('authority', { 'ca.crt': 'two' }));
    await look(api, both);
    expect(api.read(endpoints, key)?.status?.secretGeneration).toBe(2);
  });

  it('uses the stored key when two instances create one at once', async () => {
    const other = new FakeApi([guarded, secret('login', { username: 'u', password: 'p' })]);
    await look(other);
    const stored = other.read(secrets, keySecret);
    if (stored === undefined) throw new Error('no key was made');
    const api = new FakeApi([guarded, secret('login', { username: 'u', password: 'p' })]);
    api.before = ({ verb, name }) => {
      if (verb === 'create' && name === keySecret.name) api.put(stored);
    };
    await look(api);
    expect(api.read(endpoints, key)?.status?.credentialDigest).toBe(
      other.read(endpoints, key)?.status?.credentialDigest,
    );
  });

  it('rejects an invalid key and says what to do', async () => {
    const broken = { ...secret(keySecret.name, { key: 'short' }), metadata: keySecret };
    const api = new FakeApi([guarded, secret('login', { username: 'u', password: 'p' }), broken]);
    await expect(look(api)).rejects.toMatchObject({
      code: 'Invalid',
      message: expect.stringContaining('delete it'),
    });
  });
});
