import { describe, expect, it } from 'vitest';
import { fc } from '#shared/testing';
import type { Endpoint } from '../kinds/endpoint.ts';
import { endpoint } from '../testing/objects.ts';
import { type DigestKey, trackedCredentials } from './credentials.ts';

const key: DigestKey = { id: 'k1', bytes: Buffer.from('0123456789abcdef') };
const other: DigestKey = { id: 'k2', bytes: Buffer.from('fedcba9876543210') };
const data = { username: 'bWU=', password: 'aHVudGVyMg==' };

function apply(of: Endpoint, given: Record<string, string> | undefined, with_ = key): Endpoint {
  const patch = trackedCredentials(of, given, with_) ?? {};
  const entries = Object.entries({ ...of.status, ...patch }).filter(([, value]) => value !== null);
  return { ...of, status: Object.fromEntries(entries) };
}

const fresh = { ...endpoint('from', { secretRef: { name: 'login' } }), status: {} };

describe('trackedCredentials', () => {
  it('counts from one and writes nothing when it looks again', () => {
    const seen = apply(fresh, data);
    expect(seen.status).toMatchObject({ observedGeneration: 1, secretGeneration: 1 });
    expect(seen.status?.credentialDigest).toMatch(/^k1:[0-9a-f]{64}$/);
    expect(trackedCredentials(seen, { ...data }, key)).toBeUndefined();
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

  it('digests anew under a new key without raising the counter', () => {
    const seen = apply(apply(fresh, data), data, other);
    expect(seen.status).toMatchObject({ secretGeneration: 1 });
    expect(seen.status?.credentialDigest).toMatch(/^k2:/);
  });

  it('has no counter while the Secret was never there, and keeps it when it goes', () => {
    expect(apply(fresh, undefined).status).toEqual({ observedGeneration: 1 });
    const seen = apply(fresh, data);
    expect(trackedCredentials(seen, undefined, key)).toBeUndefined();
  });

  it('forgets the digest, not the counter, of an Endpoint that refers to none', () => {
    const seen = apply(fresh, data);
    const { secretRef: _, ...spec } = seen.spec;
    const bare = apply({ ...seen, spec }, undefined);
    expect(bare.status).toEqual({ observedGeneration: 1, secretGeneration: 1 });
    expect(apply({ ...bare, spec: seen.spec }, data).status?.secretGeneration).toBe(2);
  });

  it('reveals nothing of the data', () => {
    expect(JSON.stringify(trackedCredentials(fresh, data, key))).not.toMatch(/hunter2|aHVudGVyMg/);
  });
});
