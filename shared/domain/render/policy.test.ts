import { generateKeyPairSync } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ArcError } from '#shared/base/errors';
import { fc } from '#shared/base/testing';
import { policyParameter } from '../kinds/well-known.ts';
import { longestPolicy, parsePolicy } from './policy.ts';

const spki = { type: 'spki', format: 'pem' } as const;
const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve });
const p256 = ec('P-256');
const key = p256.publicKey.export(spki).toString();
const rsa = (modulusLength: number) =>
  generateKeyPairSync('rsa', { modulusLength }).publicKey.export(spki).toString();
const read = (value: unknown) => parsePolicy(JSON.stringify(value));
const trustedRoot = `sha256:${'a'.repeat(64)}`;
const signer = (pem: unknown) => ({ requiredSigners: { anyOf: [pem] } });

describe('parsePolicy', () => {
  it('reads every rule', () => {
    const rules = {
      requiredSigners: { anyOf: [key], allOf: [key, `\n${key.trim()}`] },
      repositories: { allowed: ['docker.io/library/*'], denied: ['*/secret-?'] },
      maxBytes: 1,
      mediaTypes: ['application/vnd.oci.image.*'],
      requiredSbom: false,
    };
    const vulnerabilities = {
      max: { critical: 0, high: 5, medium: 10, low: 100, unknown: 1 },
      ignored: ['CVE-2024-1', 'GHSA-aaaa-bbbb-cccc'],
      signers: [key],
      notScanned: 'allow',
    };
    const aged = { ...vulnerabilities, maxAge: '24h' };
    expect(read({ ...rules, maxAge: '720h', vulnerabilities: aged })).toEqual({
      ...rules,
      maxAgeMs: 720 * 3_600_000,
      vulnerabilities: { ...vulnerabilities, maxAgeMs: 24 * 3_600_000 },
    });
  });

  it('reads the example of docs/extending.md', async () => {
    const text = await readFile(new URL('../../../docs/extending.md', import.meta.url), 'utf8');
    const [, example = ''] = /## A policy for a type[\s\S]*?\n```yaml\n([\s\S]*?)```/.exec(text) ?? [];
    const { spec } = parse(example);
    expect(spec.parameters[0].name).toBe(policyParameter);
    expect(parsePolicy(spec.parameters[0].value)).toMatchObject({ maxAgeMs: 90 * 24 * 3_600_000 });
  });

  it.each([
    ['P-384', ec('P-384').publicKey.export(spki).toString()],
    ['Ed25519', generateKeyPairSync('ed25519').publicKey.export(spki).toString()],
    ['RSA', rsa(2048)],
  ])('takes keys of %s', (_, pem) => expect(read(signer(pem))).toEqual(signer(pem)));

  it('takes who has a certificate, with the digest of a trust root', () => {
    const release = { identity: 'https://github.com/acme/*', issuer: 'https://issuer.example.com' };
    const rule = { anyOf: [key, release], allOf: [release], trustedRoot };
    expect(read({ requiredSigners: rule })).toEqual({ requiredSigners: rule });
  });

  it.each<[unknown, string]>([
    [
      { requiredSigners: { anyOf: [{ identity: 'a', issuer: 'b' }] } },
      'policy.requiredSigners.trustedRoot must be there for signers with an identity',
    ],
    [{ requiredSigners: { trustedRoot } }, 'policy.requiredSigners must be an object with anyOf or allOf'],
    [
      { requiredSigners: { anyOf: [key], trustedRoot: 'sha256:1' } },
      'policy.requiredSigners.trustedRoot must be the digest of trusted_root.json',
    ],
    [
      signer({ identity: 'a' }),
      'policy.requiredSigners.anyOf[0] must be a public key as PEM, or an object with identity and issuer',
    ],
    [signer({ issuer: 'a' }), 'policy.requiredSigners.anyOf[0] must be a public key as PEM, or an object'],
    [signer({}), 'policy.requiredSigners.anyOf[0] must be an object with at least one of identity, issuer'],
    [
      signer({ identity: 'a', issuer: 'b', subject: 'c' }),
      'policy.requiredSigners.anyOf[0].subject is not known: use identity, issuer',
    ],
    [
      signer({ identity: 'a', issuer: 'https://*' }),
      'policy.requiredSigners.anyOf[0].issuer must be a name without blanks and "*"',
    ],
    [
      signer({ identity: 'a b', issuer: 'c' }),
      'policy.requiredSigners.anyOf[0].identity must be a name or a pattern of at most 1000 characters',
    ],
    [
      signer({ identity: 'a'.repeat(1001), issuer: 'c' }),
      'policy.requiredSigners.anyOf[0].identity must be a name or a pattern of at most 1000 characters',
    ],
    [
      { vulnerabilities: { signers: [{ identity: 'a', issuer: 'b' }] } },
      'policy.vulnerabilities.signers[0] must be a string that is not empty',
    ],
    [[], 'policy must be an object'],
    [{}, 'policy must be an object with at least one of requiredSigners, repositories, maxBytes'],
    [{ maxByte: 5 }, 'policy.maxByte is not known: use requiredSigners, repositories, maxBytes, maxAge,'],
    [JSON.parse('{"__proto__": {}}'), 'policy.__proto__ is not known'],
    [{ repositories: { allow: ['x'] } }, 'policy.repositories.allow is not known: use allowed, denied'],
    [{ repositories: {} }, 'policy.repositories must be an object with at least one of'],
    [{ repositories: { allowed: [] } }, 'policy.repositories.allowed must be a list of 1 to 100 items'],
    [
      { repositories: { denied: ['Docker.io/*'] } },
      'policy.repositories.denied[0] must be a pattern in lower',
    ],
    [{ repositories: { denied: ['https://a/*'] } }, 'policy.repositories.denied[0] must be a pattern'],
    [{ mediaTypes: [''] }, 'policy.mediaTypes[0] must be a string that is not empty'],
    [{ mediaTypes: 'x' }, 'policy.mediaTypes must be a list'],
    [{ maxBytes: 0 }, 'policy.maxBytes must be a whole number above 0'],
    [{ maxBytes: '5' }, 'policy.maxBytes must be a whole number'],
    [{ maxBytes: null }, 'policy.maxBytes must be a whole number'],
    [{ maxAge: '30d' }, 'policy.maxAge must be a duration'],
    [{ maxAge: '0' }, 'policy.maxAge must be a duration above 0'],
    [{ maxAge: '90000h' }, 'policy.maxAge must be a duration above 0 and of at most ten years'],
    [{ requiredSbom: 'yes' }, 'policy.requiredSbom must be true or false'],
    [{ chartSigners: [] }, 'policy.chartSigners must be a list of 1 to 20 items'],
    [{ chartSigners: [key] }, 'policy.chartSigners[0] must be an armored OpenPGP key'],
    [{ vulnerabilities: {} }, 'policy.vulnerabilities must be an object with at least one of max, ignored'],
    [
      { vulnerabilities: { max: { Critical: 0 } } },
      'policy.vulnerabilities.max.Critical is not known: use crit',
    ],
    [
      { vulnerabilities: { max: { high: -1 } } },
      'policy.vulnerabilities.max.high must be a whole number, 0 or',
    ],
    [{ vulnerabilities: { ignored: ['CVE 1'] } }, 'policy.vulnerabilities.ignored[0] must be the identifier'],
    [
      { vulnerabilities: { notScanned: true } },
      'policy.vulnerabilities.notScanned must be "deny" or "allow"',
    ],
    [{ vulnerabilities: { maxAge: '1d' } }, 'policy.vulnerabilities.maxAge must be a duration'],
    [{ vulnerabilities: { signers: ['x'] } }, 'policy.vulnerabilities.signers[0] must be one public key'],
    [{ requiredSigners: { oneOf: [key] } }, 'policy.requiredSigners.oneOf is not known: use anyOf, allOf'],
    [{ requiredSigners: [key] }, 'policy.requiredSigners must be an object'],
    [signer('cosign.pub'), 'policy.requiredSigners.anyOf[0] must be one public key as PEM'],
    [signer(key + key), 'policy.requiredSigners.anyOf[0] must be one public key as PEM'],
    [signer(key.replace('M', '')), 'policy.requiredSigners.anyOf[0] must be a key of ECDSA P-256'],
    [signer(ec('P-521').publicKey.export(spki)), 'policy.requiredSigners.anyOf[0] must be a key of ECDSA'],
    [
      signer(rsa(1024)),
      'policy.requiredSigners.anyOf[0] must be a key of ECDSA P-256 or P-384, Ed25519, or RSA with at least 2048 bits',
    ],
    [
      { requiredSigners: { allOf: Array(21).fill(key) } },
      'policy.requiredSigners.allOf must be a list of 1 to 20',
    ],
  ])('refuses %j: %s', (value, message) => {
    const escaped = message.replace(/[[\]()?*]/g, '\\$&');
    expect(() => read(value)).toThrow(new RegExp(`^${escaped}`));
  });

  it('refuses a private key, and does not quote it', () => {
    const secret = p256.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const text = (() => {
      try {
        return String(read(signer(secret)));
      } catch (caught) {
        return ArcError.from(caught).message;
      }
    })();
    expect(text).toMatch(/one public key as PEM/);
    expect(text).not.toContain(secret.split('\n')[1]);
  });

  it('refuses what is no JSON, and what is too long', () => {
    expect(() => parsePolicy('maxBytes: 5')).toThrow('policy must be JSON');
    expect(() => parsePolicy('')).toThrow('policy must be JSON');
    expect(() => parsePolicy(' '.repeat(longestPolicy + 1))).toThrow('policy must have at most 16384');
  });

  it('reads any text to a policy or to a message that begins with the field', () => {
    const names = ['requiredSigners', 'repositories', 'maxBytes', 'maxAge', 'mediaTypes', 'requiredSbom'];
    names.push('chartSigners', 'vulnerabilities', 'max', 'ignored');
    const value = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom([key], ['a/*'], '1h', 5, true));
    const near = fc.dictionary(fc.constantFrom(...names, 'anyOf'), value);
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          near.map((each) => JSON.stringify(each)),
        ),
        (text) => {
          try {
            const found = parsePolicy(text);
            // Whatever is read fulfils all of it: no field was passed over.
            expect(Object.keys(found).length).toBe(Object.keys(JSON.parse(text)).length);
          } catch (caught) {
            expect(ArcError.from(caught)).toMatchObject({ code: 'Invalid' });
            expect(ArcError.from(caught).message).toMatch(/^policy\b/);
          }
        },
      ),
    );
  });
});
