import { createHmac } from 'node:crypto';
import { canonicalJson } from '#shared/meta';
import type { Endpoint } from '../kinds/endpoint.ts';

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

/**
 * What track-credentials has to write of an Endpoint, given the `data` (base64 values) of the Secret it refers to, undefined
 * where there is none. The counter rises when the data differs from the last seen and never falls; a new key digests anew
 * without raising it. undefined when nothing has to be written. See docs/decisions/0008-secret-generations.md.
 */
export function trackedCredentials(
  endpoint: Endpoint,
  data: Readonly<Record<string, string>> | undefined,
  key: DigestKey,
): CredentialPatch | undefined {
  const { metadata, spec, status = {} } = endpoint;
  const patch: CredentialPatch = {};
  if (metadata.generation !== undefined && status.observedGeneration !== metadata.generation) {
    patch.observedGeneration = metadata.generation;
  }
  if (!spec.secretRef) {
    if (status.credentialDigest !== undefined) patch.credentialDigest = null;
  } else if (data) {
    const digest = `${key.id}:${digestOf(data, key)}`;
    const before = status.credentialDigest;
    if (before !== digest) patch.credentialDigest = digest;
    const sameKey = before?.startsWith(`${key.id}:`) === true;
    const raised = before === undefined || (sameKey && before !== digest);
    if (raised || status.secretGeneration === undefined) {
      patch.secretGeneration = (status.secretGeneration ?? 0) + 1;
    }
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
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
