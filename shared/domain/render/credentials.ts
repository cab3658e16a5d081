import { createHmac } from 'node:crypto';
import { canonicalJson } from '#shared/base/meta';
import type { Endpoint } from '../kinds/endpoint.ts';
import { missingDigest as missing, secretTag } from '../plan/endpoint-use.ts';

/** The conduit's own random key. `id` names it, without saying anything of its bytes. */
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

/** The `data` (base64 values) of the Secrets that an Endpoint refers to; undefined where there is none. */
export interface CredentialData {
  /** Of `secretRef`. */
  secret?: Readonly<Record<string, string>> | undefined;
  /** Of `tls.caSecretRef`. */
  ca?: Readonly<Record<string, string>> | undefined;
}

/**
 * What track-credentials has to write of an Endpoint. The counter rises when the data of one of its Secrets differs from the last
 * seen, and never falls; a new key digests anew without raising it. `credentialDigest` is the digest of `secretRef`, and behind a
 * comma that of `tls.caSecretRef`. An authority that is seen for the first time raises nothing: it belongs to the Endpoint as it
 * was written, and before there were digests of authorities they were not counted. Each digest ends with a tag of its Secret's name: after
 * the Endpoint names another one, it shows that this has not been found yet. undefined when nothing has to be written. See
 * docs/decisions/0008-secret-generations.md.
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
  const secret = secretRef ? looked(secretBefore, secretRef.name, data.secret, key) : nothing;
  const ca = caSecretRef ? looked(caBefore, caSecretRef.name, data.ca, key) : nothing;
  const digests = caSecretRef ? `${secret.digest},${ca.digest}` : secret.digest;
  const digest = secretRef || caSecretRef ? digests : undefined;
  if (digest !== status.credentialDigest) patch.credentialDigest = digest ?? null;
  const isFirst = secret.digest !== missing && status.secretGeneration === undefined;
  if (secret.raised || ca.raised || isFirst) patch.secretGeneration = (status.secretGeneration ?? 0) + 1;
  return Object.keys(patch).length === 0 ? undefined : patch;
}

const nothing = { digest: missing, raised: false };

/** The digest of one Secret after a look at it, and whether that counts as a change. One that has gone keeps its digest. */
function looked(
  before: string | undefined,
  name: string,
  data: CredentialData['secret'],
  key: DigestKey,
): { digest: string; raised: boolean } {
  if (data === undefined) return { digest: before ?? missing, raised: false };
  const digest = `${key.id}:${digestOf(data, key)}`;
  const isComparable = before === missing || before?.startsWith(`${key.id}:`) === true;
  // The tag is no part of the comparison: digests of earlier releases have none.
  const isSame = before === digest || before?.startsWith(`${digest}:`) === true;
  return { digest: `${digest}:${secretTag(name)}`, raised: isComparable && !isSame };
}

function digestOf(data: Readonly<Record<string, string>>, key: DigestKey): string {
  // Of the bytes, not of their base64, which may be written in more than one way.
  const plain = Object.entries(data).map(([name, value]) => [
    name,
    Buffer.from(value, 'base64').toString('hex'),
  ]);
  return createHmac('sha256', key.bytes)
    .update(canonicalJson(Object.fromEntries(plain)))
    .digest('hex');
}
