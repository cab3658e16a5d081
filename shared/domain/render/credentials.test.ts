import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '#shared/base/meta';
import { fc } from '#shared/base/testing';
import type { Endpoint } from '../kinds/endpoint.ts';
import { unseenSecret } from '../plan/endpoint-use.ts';
import { planOrder } from '../plan/plan.ts';
import { endpoint, ociType, order } from '../testing/objects.ts';
import { type CredentialData, type DigestKey, trackedCredentials } from './credentials.ts';

const key: DigestKey = { id: 'k1', bytes: Buffer.from('0123456789abcdef') };
const other: DigestKey = { id: 'k2', bytes: Buffer.from('fedcba9876543210') };
const data = { username: 'bWU=', password: 'aHVudGVyMg==' };

function apply(of: Endpoint, secret: CredentialData['secret'], with_ = key): Endpoint {
  return look(of, { secret }, with_);
}

function look(of: Endpoint, given: CredentialData, with_ = key): Endpoint {
  const patch = trackedCredentials(of, given, with_) ?? {};
  const entries = Object.entries({ ...of.status, ...patch }).filter(([, value]) => value !== null);
  return { ...of, status: Object.fromEntries(entries) };
}

const fresh = { ...endpoint('from', { secretRef: { name: 'login' } }), status: {} };

describe('trackedCredentials', () => {
  it('counts from one and writes nothing when it looks again', () => {
    const seen = apply(fresh, data);
    expect(seen.status).toMatchObject({ observedGeneration: 1, secretGeneration: 1 });
    expect(seen.status?.credentialDigest).toMatch(/^k1:[0-9a-f]{64}:[0-9a-f]{16}$/);
    expect(trackedCredentials(seen, { secret: { ...data } }, key)).toBeUndefined();
  });

  it('raises the counter once for every change of the data, and never for anything else', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', 'b', undefined), { maxLength: 20 }), (values) => {
        let seen = apply(fresh, data);
        let [count, last] = [1, 'start'];
        for (const value of values) {
          seen = apply(
            seen,
            value === undefined ? undefined : { token: Buffer.from(value).toString('base64') },
          );
          if (value !== undefined && value !== last) [count, last] = [count + 1, value];
          expect(seen.status?.secretGeneration).toBe(count);
        }
      }),
    );
  });

  it('does not count a key that no transfer reads, unless a template of its own may read it', () => {
    const more = { ...data, note: 'b25l' };
    const seen = apply(apply(fresh, more), { ...more, note: 'dHdv' });
    expect(seen.status?.secretGeneration).toBe(1);
    expect(apply(seen, { ...more, password: 'b25l' }).status?.secretGeneration).toBe(2);
    const foreign = apply(apply(fresh, { 'ssh-privatekey': 'b25l' }), { 'ssh-privatekey': 'dHdv' });
    expect(foreign.status?.secretGeneration).toBe(2);
    const trusting = { ...endpoint('from', { tls: { caSecretRef: { name: 'ca' } } }), status: {} };
    const ca = look(look(trusting, { ca: { 'ca.crt': 'b25l' } }), {
      ca: { 'ca.crt': 'b25l', other: 'b25l' },
    });
    expect(ca.status?.secretGeneration).toBeUndefined();
  });

  it('takes a digest of all keys, as earlier releases wrote it, for the same', () => {
    const more = { ...data, note: 'b25l' };
    const plain = canonicalJson({
      note: '6f6e65',
      password: Buffer.from('hunter2').toString('hex'),
      username: Buffer.from('me').toString('hex'),
    });
    const digest = createHmac('sha256', key.bytes).update(plain).digest('hex');
    const before = {
      ...fresh,
      status: { observedGeneration: 1, secretGeneration: 4, credentialDigest: `k1:${digest}` },
    };
    const seen = apply(before, more);
    expect(seen.status?.secretGeneration).toBe(4);
    expect(seen.status?.credentialDigest).not.toContain(digest);
    expect(apply(seen, { ...more, note: 'dHdv' }).status?.secretGeneration).toBe(4);
  });

  it('digests anew under a new key without raising the counter', () => {
    const seen = apply(apply(fresh, data), data, other);
    expect(seen.status).toMatchObject({ secretGeneration: 1 });
    expect(seen.status?.credentialDigest).toMatch(/^k2:/);
  });

  it('has no counter while the Secret was never there, and keeps it when it goes', () => {
    expect(apply(fresh, undefined).status).toEqual({ observedGeneration: 1, credentialDigest: '-' });
    const seen = apply(fresh, data);
    expect(trackedCredentials(seen, {}, key)).toBeUndefined();
  });

  it('shows that another Secret has not been found, however it is named: at first, or after a first one', () => {
    const tls = { caSecretRef: { name: 'authority' } };
    const named = (of: Endpoint, spec: Partial<Endpoint['spec']>): Endpoint => ({
      ...of,
      metadata: { ...of.metadata, generation: (of.metadata.generation ?? 0) + 1 },
      spec: { ...of.spec, ...spec },
    });
    expect(unseenSecret(look(fresh, {}))).toBe('login');
    const seen = look(fresh, { secret: data });
    expect(unseenSecret(seen)).toBeUndefined();
    expect(unseenSecret(look(seen, {}))).toBeUndefined();
    const other = look(named(seen, { secretRef: { name: 'another' } }), {});
    expect(other.status?.observedGeneration).toBe(2);
    expect(unseenSecret(other)).toBe('another');
    expect(unseenSecret(look(other, { secret: data }))).toBeUndefined();
    const { secretRef: _, ...open } = seen.spec;
    const bare = look({ ...seen, spec: open }, {});
    expect(unseenSecret(look(named(bare, { secretRef: { name: 'login' } }), {}))).toBe('login');
    const guarded = look(named(seen, { tls }), { secret: data });
    expect(unseenSecret(guarded)).toBe('authority');
    const full = look(guarded, { secret: data, ca: { 'ca.crt': 'b25l' } });
    expect(unseenSecret(full)).toBeUndefined();
    expect(unseenSecret(named(full, { tls: { caSecretRef: { name: 'new' } } }))).toBe('new');
  });

  it('makes one version of an artifact when its Endpoint names another Secret, which comes later', () => {
    const one = order('order', ['team/app:1']);
    const versionOf = (source: Endpoint) => {
      const { endpoints, types } = { endpoints: [source, endpoint('destination')], types: [ociType()] };
      const [planned] = planOrder(one, { endpoints, types }).artifacts;
      return planned?.state === 'ready' ? planned.key : planned?.hold.reason;
    };
    const source = { ...fresh, metadata: { ...fresh.metadata, name: 'source' } };
    const seen = look(source, { secret: data });
    const edited = { ...seen, spec: { ...seen.spec, secretRef: { name: 'later' } } };
    const without = look({ ...edited, metadata: { ...edited.metadata, generation: 2 } }, {});
    const found = look(without, { secret: { token: 'eA==' } });
    const versions = [seen, without, found, look(found, { secret: { token: 'eA==' } })].map(versionOf);
    expect(versions[1]).toBe('SecretMissing');
    expect(versions[3]).toBe(versions[2]);
    expect(new Set(versions).size).toBe(3);
  });

  it('takes a digest without a tag, which an earlier release made, for the same', () => {
    const seen = look(fresh, { secret: data });
    const credentialDigest = seen.status?.credentialDigest?.replace(/:[0-9a-f]{16}$/, '') ?? '';
    const old = { ...seen, status: { ...seen.status, credentialDigest } };
    expect(unseenSecret(old)).toBeUndefined();
    expect(look(old, { secret: data }).status).toEqual(seen.status);
    expect(look(old, { secret: { token: 'eA==' } }).status?.secretGeneration).toBe(2);
  });

  it('forgets the digest, not the counter, of an Endpoint that refers to none', () => {
    const seen = apply(fresh, data);
    const { secretRef: _, ...spec } = seen.spec;
    const bare = apply({ ...seen, spec }, undefined);
    expect(bare.status).toEqual({ observedGeneration: 1, secretGeneration: 1 });
    expect(apply({ ...bare, spec: seen.spec }, data).status?.secretGeneration).toBe(2);
  });

  it('reveals nothing of the data', () => {
    expect(JSON.stringify(trackedCredentials(fresh, { secret: data }, key))).not.toMatch(
      /hunter2|aHVudGVyMg/,
    );
  });

  describe('with certificate authorities', () => {
    const ca = { 'ca.crt': 'b25l' };
    const renewed = { 'ca.crt': 'dHdv' };
    const tls = { caSecretRef: { name: 'authority' } };
    const open = { ...endpoint('open', { tls }), status: {} };
    const guarded = { ...endpoint('guarded', { tls, secretRef: { name: 'login' } }), status: {} };

    it('counts a change of either Secret, and a change of both once', () => {
      const first = look(guarded, { secret: data, ca });
      expect(first.status?.secretGeneration).toBe(1);
      expect(trackedCredentials(first, { secret: data, ca }, key)).toBeUndefined();
      const second = look(first, { secret: data, ca: renewed });
      expect(second.status?.secretGeneration).toBe(2);
      const third = look(second, { secret: { token: 'eA==' }, ca: renewed });
      expect(third.status?.secretGeneration).toBe(3);
      expect(look(third, { secret: data, ca }).status?.secretGeneration).toBe(4);
    });

    it('counts for an Endpoint without credentials from the first change on', () => {
      const first = look(open, { ca });
      expect(first.status?.secretGeneration).toBeUndefined();
      expect(look(first, { ca: renewed }).status?.secretGeneration).toBe(1);
    });

    it('counts authorities that were missing and appear; those that go for a while change nothing', () => {
      const without = look(open, {});
      expect(trackedCredentials(without, {}, key)).toBeUndefined();
      const seen = look(without, { ca });
      expect(seen.status?.secretGeneration).toBe(1);
      expect(trackedCredentials(look(seen, {}), { ca }, key)).toBeUndefined();
    });

    it('raises nothing for a digest that was made before authorities were digested, nor for a new key', () => {
      const { tls: _, ...spec } = guarded.spec;
      const old = { ...apply({ ...guarded, spec }, data), spec: guarded.spec };
      const seen = look(old, { secret: data, ca });
      expect(seen.status?.secretGeneration).toBe(1);
      expect(seen.status?.credentialDigest).not.toBe(old.status?.credentialDigest);
      expect(look(seen, { secret: data, ca }, other).status?.secretGeneration).toBe(1);
      expect(look(seen, { secret: data, ca: renewed }).status?.secretGeneration).toBe(2);
    });
  });
});
