import { generateKeyPairSync, type KeyPairKeyObjectResult } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { bundleOf, payloadOf, signed } from '../testing/signing.ts';
import { evaluatePolicy, type Facts, type Policy } from './policy.ts';
import type { Signature } from './signature.ts';

const digest = `sha256:${'a'.repeat(64)}`;
const other = `sha256:${'b'.repeat(64)}`;
const day = 24 * 3_600_000;
const nowMs = Date.parse('2026-06-01T00:00:00Z');

const facts: Facts = {
  digest,
  repository: 'registry.example.com:5000/team/app',
  bytes: 1000,
  mediaTypes: ['application/vnd.oci.image.manifest.v1+json', 'application/vnd.oci.image.layer.v1.tar+gzip'],
  images: [
    { digest, createdMs: nowMs - day },
    { digest: other, createdMs: nowMs - 3 * day },
  ],
  described: new Set(),
  signatures: [],
  reports: [],
  nowMs,
};

const [mine, yours, third] = [0, 1, 2].map(() => generateKeyPairSync('ec', { namedCurve: 'P-256' })) as [
  KeyPairKeyObjectResult,
  KeyPairKeyObjectResult,
  KeyPairKeyObjectResult,
];
const pem = ({ publicKey }: KeyPairKeyObjectResult) =>
  publicKey.export({ type: 'spki', format: 'pem' }).toString();

function by(pair: KeyPairKeyObjectResult, of = payloadOf(digest), hash?: string): Signature {
  return { form: 'payload', payload: of, signature: signed(of, pair.privateKey, hash) };
}

function bundle(pair: KeyPairKeyObjectResult, of = digest, predicate?: string): Signature {
  return { form: 'bundle', bundle: bundleOf(of, pair.privateKey, predicate) };
}

describe('evaluatePolicy', () => {
  it.each<[string, Policy, Partial<Facts>]>([
    ['no rule', {}, {}],
    ['an allowed repository', { repositories: { allowed: ['other/*', '*.example.com:5000/team/*'] } }, {}],
    ['a repository that is not denied', { repositories: { denied: ['docker.io/*'] } }, {}],
    ['media types', { mediaTypes: ['application/vnd.oci.image.*'] }, {}],
    ['bytes', { maxBytes: 1000 }, {}],
    ['age', { maxAgeMs: 3 * day }, {}],
    ['an SBOM of the whole', { requiredSbom: true }, { described: new Set([digest]) }],
    [
      'an SBOM of each image',
      { requiredSbom: true },
      { digest: `sha256:${'c'.repeat(64)}`, described: new Set([digest, other]) },
    ],
    ['no SBOM that is not required', { requiredSbom: false }, {}],
  ])('allows %s', (_, policy, given) => {
    expect(evaluatePolicy(policy, { ...facts, ...given })).toEqual({ allowed: true });
  });

  it.each<[string, Policy, Partial<Facts>, RegExp]>([
    ['repositories.allowed', { repositories: { allowed: ['docker.io/*'] } }, {}, /matches none/],
    ['repositories.allowed', { repositories: { allowed: ['*'] } }, { repository: undefined }, /no name/],
    [
      'repositories.denied',
      { repositories: { denied: ['*/team/*'] } },
      {},
      /team\/app matches "\*\/team\/\*"/,
    ],
    ['repositories.denied', { repositories: { denied: ['x'] } }, { repository: undefined }, /no name/],
    ['repositories.denied', { repositories: { allowed: ['*'], denied: ['*app'] } }, {}, /matches "\*app"/],
    ['mediaTypes', { mediaTypes: ['*.manifest.v1+json'] }, {}, /"application\/vnd\.oci\.image\.layer/],
    ['mediaTypes', { mediaTypes: ['*'] }, { mediaTypes: ['x'.repeat(256)] }, /"x{100}"/],
    ['maxBytes', { maxBytes: 999 }, {}, /1000 bytes, more than 999/],
    [
      'maxAge',
      { maxAgeMs: 2 * day },
      {},
      /image sha256:b+ was created at 2026-05-29T00:00:00\.000Z.* 48h ago/,
    ],
    [
      'maxAge',
      { maxAgeMs: day },
      { images: [{ digest, createdMs: undefined }] },
      /sha256:a+ has no creation time/,
    ],
    ['maxAge', { maxAgeMs: day }, { images: [] }, /no image/],
    ['maxAge', { maxAgeMs: day }, { images: [{ digest, createdMs: nowMs + 2 * day }] }, /in the future/],
    ['requiredSbom', { requiredSbom: true }, {}, /no SBOM refers to it/],
    [
      'requiredSbom',
      { requiredSbom: true },
      { digest: `sha256:${'c'.repeat(64)}`, described: new Set([digest]) },
      /nor to its image sha256:b+$/,
    ],
    ['requiredSbom', { requiredSbom: true }, { images: [] }, /no SBOM/],
    ['vulnerabilities.notScanned', { vulnerabilities: { max: { critical: 0 } } }, {}, /is not scanned/],
    [
      'vulnerabilities.max',
      { vulnerabilities: { max: { high: 0 }, notScanned: 'allow' } },
      {
        reports: [
          {
            scanner: 'grype',
            subjects: new Set([digest]),
            madeMs: nowMs,
            findings: [{ id: 'CVE-2024-1', severity: 'high' }],
          },
        ],
      },
      /1 findings of severity high, more than 0: CVE-2024-1 \(grype\)$/,
    ],
  ])('denies by %s: %j', (rule, policy, given, found) => {
    expect(evaluatePolicy(policy, { ...facts, ...given })).toEqual({
      allowed: false,
      rule,
      found: expect.stringMatching(found),
    });
  });

  it('never allows with more rules what it denies with fewer', () => {
    const policies = fc.record<Policy>(
      {
        repositories: fc.record({ allowed: fc.constant(['*']), denied: fc.constantFrom(['*app'], ['x']) }),
        maxBytes: fc.integer({ min: 1, max: 2000 }),
        maxAgeMs: fc.integer({ min: 1, max: 6 * day }),
        mediaTypes: fc.constantFrom(['*'], ['*.manifest.*']),
        requiredSbom: fc.boolean(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(policies, policies, (one, more) => {
        const both = { ...more, ...one };
        if (!evaluatePolicy(one, facts).allowed) expect(evaluatePolicy(both, facts).allowed).toBe(false);
      }),
    );
  });
});

describe('required signers', () => {
  const anyOf = { requiredSigners: { anyOf: [pem(mine), pem(yours)] } };
  const allOf = { requiredSigners: { allOf: [pem(mine), pem(yours)] } };
  const judged = (policy: Policy, signatures: Signature[]) =>
    evaluatePolicy(policy, { ...facts, signatures });

  it.each<[string, Policy, Signature[]]>([
    ['one of the keys', anyOf, [by(third), by(yours)]],
    ['all of the keys', allOf, [by(yours), by(third), by(mine)]],
    ['a bundle', anyOf, [bundle(mine)]],
    ['a payload and a bundle', allOf, [bundle(mine), by(yours)]],
    ['both rules', { requiredSigners: { anyOf: [pem(mine)], allOf: [pem(yours)] } }, [by(mine), by(yours)]],
  ])('are fulfilled by %s', (_, policy, signatures) => {
    expect(judged(policy, signatures)).toEqual({ allowed: true });
  });

  const altered = by(mine);
  if (altered.form === 'payload') altered.payload = Buffer.from(`${payloadOf(digest)} `);
  const changed = bundleOf(other, mine.privateKey).toString();
  const forged = JSON.parse(changed);
  forged.dsseEnvelope.payload = JSON.parse(
    bundleOf(digest, yours.privateKey).toString(),
  ).dsseEnvelope.payload;

  it.each<[string, Policy, Signature[], RegExp]>([
    [
      'nothing',
      anyOf,
      [],
      /none of the signers of anyOf.* no cosign signature; the signature of a single platform/,
    ],
    ['another key', anyOf, [by(third)], /1 by another signer or tampered with$/],
    [
      'a payload of another digest',
      anyOf,
      [by(mine, payloadOf(other))],
      /1 by an accepted signer, but for something/,
    ],
    ['a tampered payload', anyOf, [altered], /1 by another signer or tampered/],
    ['a payload of another type', anyOf, [by(mine, payloadOf(digest, 'other'))], /but for something else$/],
    ['a payload that is no JSON', anyOf, [by(mine, Buffer.from(digest))], /but for something else$/],
    ['one of two keys', allOf, [by(mine), by(third)], /the signer allOf\[1\] has not signed/],
    ['two signatures of one key', allOf, [by(mine), by(mine)], /allOf\[1\]/],
    ['a bundle of another digest', anyOf, [bundle(mine, other)], /but for something else$/],
    ['an attestation', anyOf, [bundle(mine, digest, 'https://spdx.dev/Document')], /but for something else$/],
    [
      'a forged envelope',
      anyOf,
      [{ form: 'bundle', bundle: Buffer.from(JSON.stringify(forged)) }],
      /1 by an/,
    ],
    [
      'no signature at all',
      anyOf,
      [{ ...by(mine), signature: Buffer.alloc(0) } as Signature],
      /1 by another/,
    ],
  ])('are not fulfilled by %s', (_, policy, signatures, found) => {
    expect(judged(policy, signatures)).toEqual({
      allowed: false,
      rule: 'requiredSigners',
      found: expect.stringMatching(found),
    });
  });

  it.each<[string, KeyPairKeyObjectResult, string | undefined]>([
    ['P-384 with SHA-256', generateKeyPairSync('ec', { namedCurve: 'P-384' }), 'sha256'],
    ['P-384 with SHA-384', generateKeyPairSync('ec', { namedCurve: 'P-384' }), 'sha384'],
    ['RSA', generateKeyPairSync('rsa', { modulusLength: 2048 }), 'sha256'],
    ['Ed25519', generateKeyPairSync('ed25519'), undefined],
  ])('sign by %s', (_, pair, hash) => {
    const policy = { requiredSigners: { anyOf: [pem(pair)] } };
    expect(judged(policy, [by(pair, payloadOf(digest), hash)])).toEqual({ allowed: true });
    expect(judged(policy, [by(mine)]).allowed).toBe(false);
    expect(judged(policy, [bundle(pair)])).toEqual({ allowed: true });
  });

  it('are never fulfilled by arbitrary bytes', () => {
    const bytes = fc.uint8Array({ maxLength: 80 }).map((each) => Buffer.from(each));
    const payload = fc.constantFrom(payloadOf(digest));
    const signatures = fc.oneof(
      fc.record({
        form: fc.constant('payload' as const),
        payload: fc.oneof(payload, bytes),
        signature: bytes,
      }),
      fc.record({
        form: fc.constant('bundle' as const),
        bundle: fc.oneof(
          bytes,
          fc.json().map((text) => Buffer.from(text)),
          fc.jsonValue().map((value) => Buffer.from(JSON.stringify({ dsseEnvelope: value }))),
        ),
      }),
    );
    fc.assert(
      fc.property(fc.array(signatures, { maxLength: 3 }), (list) => {
        expect(judged(anyOf, list).allowed).toBe(false);
      }),
    );
  });
});
