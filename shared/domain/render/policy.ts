import { createPublicKey } from 'node:crypto';
import { ArcError } from '#shared/base/errors';
import { policyParameter } from '../kinds/well-known.ts';
import { durationProblem } from '../values/causes.ts';
import { parseDuration } from '../values/duration.ts';
import { filledText, flag, list, type Shape, someOf, type TypeOf } from '../values/shape.ts';

/** Characters of the JSON: every ArtifactWorkflow and Workflow of the type contains a copy. */
export const longestPolicy = 16_384;
const mostKeys = 20;
const mostPatterns = 100;
const longestPatternOfPolicy = 255;
const longestIdentity = 1000;
const mostIgnored = 500;

/** The conditions that an artifact must fulfil before it is transferred (docs/extending.md). `maxAgeMs` in milliseconds. */
export type TransferPolicy = Omit<TypeOf<typeof rules>, 'maxAge'> & { maxAgeMs?: number };

/** Matches known vulnerabilities of an artifact; see VulnerabilityRule of shared/transfer. */
const vulnerabilityRule = someOf({
  max: someOf({ critical: count, high: count, medium: count, low: count, unknown: count }),
  ignored: bounded(list(identifier), mostIgnored),
  maxAge: age,
  signers: bounded(list(publicKey), mostKeys),
  notScanned: denyOrAllow,
});

const signers = bounded(list(signer), mostKeys);
const signerRule = someOf({ anyOf: signers, allOf: signers, trustedRoot: digest });
const identityRule = someOf({ identity: name(true), issuer: name(false) });
const patterns = bounded(list(pattern), mostPatterns);
const rules = someOf({
  requiredSigners,
  repositories: someOf({ allowed: patterns, denied: patterns }),
  maxBytes: positive,
  maxAge: age,
  mediaTypes: patterns,
  requiredSbom: flag,
  chartSigners: bounded(list(keyring), mostKeys),
  vulnerabilities,
});

/**
 * Parses a policy. Unknown fields are refused: a misspelt rule would let everything pass. Throws Invalid, which
 * names the field.
 */
export function parsePolicy(json: string): TransferPolicy {
  if (json.length > longestPolicy)
    throw new ArcError('Invalid', `${policyParameter} must have at most ${longestPolicy} characters`);
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new ArcError('Invalid', `${policyParameter} must be JSON`);
  }
  const { maxAge, ...others } = rules(value, policyParameter);
  return { ...others, ...(maxAge === undefined ? {} : { maxAgeMs: maxAge }) };
}

function vulnerabilities(value: unknown, path: string) {
  const { maxAge, ...others } = vulnerabilityRule(value, path);
  return { ...others, ...(maxAge === undefined ? {} : { maxAgeMs: maxAge }) };
}

function requiredSigners(value: unknown, path: string) {
  const given = signerRule(value, path);
  const { anyOf, allOf, trustedRoot } = given;
  const all = [...(anyOf ?? []), ...(allOf ?? [])];
  // An empty rule would let everything pass.
  if (all.length === 0) throw wrong(path, 'an object with anyOf or allOf');
  if (trustedRoot === undefined && all.some((each) => typeof each !== 'string'))
    throw wrong(
      `${path}.trustedRoot`,
      'there for signers with an identity: the digest of trusted_root.json, "sha256:" and what sha256sum prints',
    );
  return given;
}

/** A public key, or the identity in a certificate. */
function signer(value: unknown, path: string): string | { identity: string; issuer: string } {
  if (typeof value !== 'object' || value === null) return publicKey(value, path);
  const { identity, issuer } = identityRule(value, path);
  if (identity !== undefined && issuer !== undefined) return { identity, issuer };
  throw wrong(path, 'a public key as PEM, or an object with identity and issuer');
}

/** A name in a certificate. The name of an issuer is not a pattern. */
function name(isPattern: boolean): Shape<string> {
  return (value, path) => {
    const text = filledText(value, path);
    if (text.length <= longestIdentity && !/\s/.test(text) && (isPattern || !text.includes('*'))) return text;
    throw wrong(
      path,
      isPattern
        ? `a name or a pattern of at most ${longestIdentity} characters, without blanks, such as "https://github.com/acme/*"`
        : `a name without blanks and "*", such as "https://token.actions.githubusercontent.com"`,
    );
  };
}

function digest(value: unknown, path: string): string {
  const text = filledText(value, path);
  if (/^sha256:[0-9a-f]{64}$/.test(text)) return text;
  throw wrong(path, 'the digest of trusted_root.json, "sha256:" and what sha256sum prints');
}

function wrong(path: string, expected: string): ArcError {
  return new ArcError('Invalid', `${path} must be ${expected}`);
}

function bounded<T>(shape: Shape<T[]>, most: number): Shape<T[]> {
  return (value, path) => {
    // Bounded first: checking an item takes time.
    if (!Array.isArray(value) || value.length === 0 || value.length > most)
      throw wrong(path, `a list of 1 to ${most} items`);
    return shape(value, path);
  };
}

/** Compared with lower-case names. */
function pattern(value: unknown, path: string): string {
  const text = filledText(value, path);
  if (text.length <= longestPatternOfPolicy && !/[\sA-Z]|:\/\//.test(text)) return text;
  throw wrong(
    path,
    `a pattern in lower case of at most ${longestPatternOfPolicy} characters, without blanks and "://"`,
  );
}

function positive(value: unknown, path: string): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value;
  throw wrong(path, 'a whole number above 0');
}

function count(value: unknown, path: string): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw wrong(path, 'a whole number, 0 or more');
}

function identifier(value: unknown, path: string): string {
  const text = filledText(value, path);
  if (/^[A-Za-z0-9._:-]{1,100}$/.test(text)) return text;
  throw wrong(path, 'the identifier of a vulnerability, such as "CVE-2024-1234"');
}

function denyOrAllow(value: unknown, path: string): 'deny' | 'allow' {
  if (value === 'deny' || value === 'allow') return value;
  throw wrong(path, '"deny" or "allow"');
}

function age(value: unknown, path: string): number {
  const text = filledText(value, path);
  const ms = durationProblem(text) === undefined ? parseDuration(text) : undefined;
  if (ms !== undefined && ms > 0) return ms;
  throw wrong(path, 'a duration above 0 and of at most ten years, such as "720h"');
}

const keyringForm = /^\s*-----BEGIN PGP PUBLIC KEY BLOCK-----[^-]+-----END PGP PUBLIC KEY BLOCK-----\s*$/;

/** As `gpg --export --armor` prints it; it may hold several keys. */
function keyring(value: unknown, path: string): string {
  const text = filledText(value, path);
  if (keyringForm.test(text)) return text;
  throw wrong(path, 'an armored OpenPGP key, from "-----BEGIN PGP PUBLIC KEY BLOCK-----" to its END line');
}

const pemForm = /^\s*-----BEGIN PUBLIC KEY-----[A-Za-z0-9+/=\s]+-----END PUBLIC KEY-----\s*$/;

/** A key as `cosign public-key` prints it. A private key is refused, although Node would derive its public key: it must not be written here. */
function publicKey(value: unknown, path: string): string {
  const pem = filledText(value, path);
  if (!pemForm.test(pem))
    throw wrong(path, 'one public key as PEM, from "-----BEGIN PUBLIC KEY-----" to its END line');
  if (isUsable(pem)) return pem;
  throw wrong(path, 'a key of ECDSA P-256 or P-384, Ed25519, or RSA with at least 2048 bits');
}

function isUsable(pem: string): boolean {
  try {
    const { asymmetricKeyType: type, asymmetricKeyDetails: details } = createPublicKey(pem);
    if (type === 'ec') return ['prime256v1', 'secp384r1'].includes(details?.namedCurve ?? '');
    return type === 'ed25519' || (type === 'rsa' && (details?.modulusLength ?? 0) >= 2048);
  } catch {
    return false;
  }
}
