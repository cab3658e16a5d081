import { createHmac } from 'node:crypto';
import { canonicalJson } from '#shared/base/meta';
import type { Endpoint } from '../kinds/endpoint.ts';
import { missingDigest as missing, secretTag } from '../plan/endpoint-use.ts';
import { accessData } from './access.ts';

/** The conduit's own random key. `id` names the key and reveals nothing about its bytes. */
export interface DigestKey {
  id: string;
  bytes: Uint8Array;
}

/** A merge patch for Endpoint.status. */
export interface CredentialPatch {
  observedGeneration?: number;
  secretGeneration?: number;
  credentialDigest?: string | null;
}

/** The `data` (base64 values) of the Secrets that an Endpoint refers to; undefined for a Secret that does not exist. */
export interface CredentialData {
  /** Of `secretRef`. */
  secret?: Readonly<Record<string, string>> | undefined;
  /** Of `tls.caSecretRef`. */
  ca?: Readonly<Record<string, string>> | undefined;
}

/**
 * Returns the status that track-credentials writes to an Endpoint, or undefined if it is up to date. The counter rises when the keys that transfers
 * read of a Secret differ from the last seen ones, and never falls; a new key recomputes the digests without raising it. `credentialDigest` is the
 * digest of `secretRef`, then a comma and the digest of `tls.caSecretRef`. The first sight of a certificate authority raises nothing: the
 * authority belongs to the Endpoint as written, and earlier releases did not count authorities. Each digest ends with a tag of its Secret's
 * name, which shows after an edit that the newly named Secret was not found yet. See docs/decisions/0008-secret-generations.md.
 */
export function trackedCredentials(
  endpoint: Endpoint,
  data: CredentialData,
  key: DigestKey,
): CredentialPatch | undefined {
  const { metadata, spec, status = {} } = endpoint;
  const patch: CredentialPatch = {};
  if (metadata.generation !== undefined && status.observedGeneration !== metadata.generation) {
    patch.observedGeneration = metadata.generation;
  }
  const [secretBefore = missing, caBefore] = status.credentialDigest?.split(',') ?? [];
  const { secretRef, tls: { caSecretRef } = {} } = spec;
  const ofAccess = (all: Readonly<Record<string, string>>) => accessData(spec.type, all);
  const secret = secretRef ? looked(secretBefore, secretRef.name, data.secret, ofAccess, key) : nothing;
  const ca = caSecretRef ? looked(caBefore, caSecretRef.name, data.ca, authorityIn, key) : nothing;
  const digests = caSecretRef ? `${secret.digest},${ca.digest}` : secret.digest;
  const digest = secretRef || caSecretRef ? digests : undefined;
  if (digest !== status.credentialDigest) patch.credentialDigest = digest ?? null;
  const isFirst = secret.digest !== missing && status.secretGeneration === undefined;
  if (secret.raised || ca.raised || isFirst) patch.secretGeneration = (status.secretGeneration ?? 0) + 1;
  return Object.keys(patch).length === 0 ? undefined : patch;
}

const nothing = { digest: missing, raised: false };

function authorityIn(data: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const { 'ca.crt': authority } = data;
  return authority === undefined ? data : { 'ca.crt': authority };
}

/**
 * Returns the digest of a Secret after a look, and whether it counts as a change. A deleted Secret keeps its digest. `partOf`: the keys that
 * matter.
 */
function looked(
  before: string | undefined,
  name: string,
  data: CredentialData['secret'],
  partOf: (data: Readonly<Record<string, string>>) => Readonly<Record<string, string>>,
  key: DigestKey,
): { digest: string; raised: boolean } {
  if (data === undefined) return { digest: before ?? missing, raised: false };
  const digest = `${key.id}:${digestOf(partOf(data), key)}`;
  // Earlier releases digested all keys.
  const whole = `${key.id}:${digestOf(data, key)}`;
  const isComparable = before === missing || before?.startsWith(`${key.id}:`) === true;
  // Compared without the tag: digests of earlier releases have none.
  const isSame = [digest, whole].some((one) => before === one || before?.startsWith(`${one}:`) === true);
  return { digest: `${digest}:${secretTag(name)}`, raised: isComparable && !isSame };
}

function digestOf(data: Readonly<Record<string, string>>, key: DigestKey): string {
  // Over the bytes, not their base64, which has more than one form.
  const plain = Object.entries(data).map(([name, value]) => [
    name,
    Buffer.from(value, 'base64').toString('hex'),
  ]);
  return createHmac('sha256', key.bytes)
    .update(canonicalJson(Object.fromEntries(plain)))
    .digest('hex');
}
