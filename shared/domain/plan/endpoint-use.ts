import type { ArtifactType } from '../kinds/artifact-type.ts';
import type { EndpointRef } from '../kinds/artifact-workflow.ts';
import type { Reference } from '../kinds/common.ts';
import type { Endpoint } from '../kinds/endpoint.ts';
import { mayBe, type Side } from '../kinds/usage.ts';
import type { Hold, HoldReason } from '../lifecycle/holds.ts';
import { isDeleting } from '../lifecycle/phases.ts';
import { giveNamespace } from '../values/give-namespace.ts';
import { shortHash } from '../values/hash.ts';

/** An Endpoint as one side of a transfer. */
export interface EndpointUse {
  ref: EndpointRef;
  secretRef: Reference | undefined;
  /** The digests that track-credentials recorded, by the names of the Secrets. */
  digests: ReadonlyMap<string, string>;
  parameters: { type: string; remoteURL: string; secret: boolean };
  /** Its location as a destination. */
  location: { type: string; remoteURL: string; plainHTTP: boolean };
  /** The fields of the Endpoint that are inputs of a transfer. */
  identity: unknown[];
  /** True where it limits concurrent transfers. */
  isLimited: boolean;
}

/** `type` is the type of the Endpoint, if known. */
export type Resolution =
  | { state: 'ready'; type: string; use: EndpointUse }
  | { state: 'held'; type?: string; hold: Hold };

/** Resolves the Endpoint of one side and decides whether it may be used now. */
export function resolveEndpoint(
  endpoints: ReadonlyMap<string, Endpoint>,
  name: string | undefined,
  side: Side,
): Resolution {
  const field = side === 'source' ? 'srcRef' : 'dstRef';
  if (name === undefined) {
    return held('NoEndpoint', `no ${side}: set ${field} or spec.defaults.${field}`);
  }
  const endpoint = endpoints.get(name);
  if (!endpoint) {
    return held('EndpointMissing', `${side} Endpoint "${name}" not found: create it, or correct ${field}`);
  }
  // Its credentials are no longer tracked, and another finalizer may hold it for long.
  if (isDeleting(endpoint))
    return held(
      'EndpointMissing',
      `${side} Endpoint "${name}" is being deleted: create it anew, or correct ${field}`,
    );
  if (!mayBe(side, endpoint.spec))
    return held('UsageMismatch', `Endpoint "${name}" is ${endpoint.spec.usage} and cannot be a ${side}`);
  const { type } = endpoint.spec;
  const unseen = unseenHold(endpoint);
  if (unseen) return { state: 'held', type, hold: unseen };
  return { state: 'ready', type, use: useOf(endpoint) };
}

/**
 * Returns why an Endpoint cannot be used yet: track-credentials has not seen its current generation. Used before, its transfers would run
 * twice: with the old counter and with the new one.
 */
function unseenHold(endpoint: Endpoint): Hold | undefined {
  const { metadata, status } = endpoint;
  if (status?.observedGeneration !== metadata.generation) {
    const message = `Endpoint "${metadata.name}" has not been looked at since it changed`;
    return { reason: 'EndpointUnread', message };
  }
  const unseen = unseenSecret(endpoint);
  if (unseen === undefined) return undefined;
  const message = `Secret "${unseen}" of Endpoint "${metadata.name}" not found: create it, or give the namespace to ARC with ${giveNamespace(metadata.namespace)}`;
  return { reason: 'SecretMissing', message };
}

/** Placeholder for the digest of a Secret that does not exist. */
export const missingDigest = '-';

/** Returns the suffix of a Secret's digest, which tells it from the digest of another Secret that the Endpoint names later. */
export function secretTag(name: string): string {
  return shortHash(['secret', name]);
}

/**
 * Returns the name of a Secret of the Endpoint that track-credentials has never found; undefined if it has found all. A Secret that was
 * deleted later counts as found. A digest of an earlier release has no suffix, and counts as the digest of the named Secret.
 */
export function unseenSecret({ spec, status }: Endpoint): string | undefined {
  const { secretRef, tls } = spec;
  const [secret, ca] = status?.credentialDigest?.split(',') ?? [];
  const isUnseen = (name: string, digest: string | undefined) => {
    const tag = digest?.split(':')[2];
    return digest === missingDigest || (tag !== undefined && tag !== secretTag(name));
  };
  if (secretRef && (status?.secretGeneration === undefined || isUnseen(secretRef.name, secret)))
    return secretRef.name;
  return tls?.caSecretRef && isUnseen(tls.caSecretRef.name, ca) ? tls.caSecretRef.name : undefined;
}

function held(reason: HoldReason, message: string): Resolution {
  return { state: 'held', hold: { reason, message } };
}

function useOf(endpoint: Endpoint): EndpointUse {
  const { spec } = endpoint;
  const ref = endpointRef(endpoint);
  return {
    ref,
    secretRef: spec.secretRef ? { name: spec.secretRef.name } : undefined,
    digests: digestsOf(endpoint),
    parameters: { type: spec.type, remoteURL: spec.remoteURL, secret: spec.secretRef !== undefined },
    location: { type: spec.type, remoteURL: spec.remoteURL, plainHTTP: spec.tls?.plainHTTP === true },
    identity: [...identityOf(endpoint), ref.secretGeneration ?? null],
    isLimited: spec.maxInFlight !== undefined,
  };
}

/** Returns the fields of an Endpoint that are inputs of a transfer, without its credential counter. A recreated Endpoint has another uid. */
function identityOf({ metadata, spec }: Endpoint): unknown[] {
  const { caSecretRef, insecureSkipVerify = false, plainHTTP = false } = spec.tls ?? {};
  return [
    metadata.name,
    metadata.uid ?? null,
    spec.type,
    spec.remoteURL,
    [caSecretRef?.name ?? null, insecureSkipVerify, plainHTTP],
    spec.secretRef?.name ?? null,
    ...(spec.tokenHosts ? [[...spec.tokenHosts].sort()] : []),
    ...(spec.redirectHosts ? [{ redirectHosts: [...spec.redirectHosts].sort() }] : []),
  ];
}

/**
 * True when an Endpoint's inputs differ from those that `ref` records. A reference made by hand may leave the record out, and then matches
 * every state of the Endpoint.
 */
export function hasMoved(ref: EndpointRef, endpoint: Endpoint): boolean {
  const now = endpointRef(endpoint);
  const counter = endpoint.status?.secretGeneration;
  if (ref.secretGeneration !== undefined && ref.secretGeneration !== counter) return true;
  if (ref.digest !== undefined) return ref.digest !== now.digest;
  return ref.generation !== undefined && ref.generation !== now.generation;
}

/**
 * Returns why two Endpoints cannot be used together yet: they share a Secret, and track-credentials has seen its latest data for only one
 * of them. Used now, the transfer would run with half of the change, and again with the other half.
 */
export function halfSeenHold(from: EndpointUse, to: EndpointUse): Hold | undefined {
  for (const [name, digest] of from.digests) {
    const other = to.digests.get(name);
    // Digests under different keys cannot be compared.
    if (other === undefined || other === digest || keyOf(other) !== keyOf(digest)) continue;
    const message = `Secret "${name}" has changed, which Endpoints "${from.ref.name}" and "${to.ref.name}" have not both been looked at for yet`;
    return { reason: 'EndpointUnread', message };
  }
  return undefined;
}

/** Splits `credentialDigest` into its parts (`trackedCredentials`). */
function digestsOf({ spec, status }: Endpoint): Map<string, string> {
  const parts = status?.credentialDigest?.split(',') ?? [];
  const [secret, ca] = parts.map((digest) => digest.split(':').slice(0, 2).join(':'));
  const seen = new Map<string, string>();
  if (spec.secretRef && secret !== undefined) seen.set(spec.secretRef.name, secret);
  if (spec.tls?.caSecretRef && ca !== undefined) seen.set(spec.tls.caSecretRef.name, ca);
  return seen;
}

function keyOf(digest: string): string {
  return digest.slice(0, digest.indexOf(':'));
}

/** Returns the reference to an Endpoint in its current state. The credential counter is included only while the Endpoint refers to a Secret. */
export function endpointRef(endpoint: Endpoint): EndpointRef {
  const { metadata, spec, status } = endpoint;
  return {
    name: metadata.name,
    ...(metadata.generation === undefined ? {} : { generation: metadata.generation }),
    digest: shortHash(identityOf(endpoint)),
    ...((spec.secretRef ?? spec.tls?.caSecretRef) && status?.secretGeneration !== undefined
      ? { secretGeneration: status.secretGeneration }
      : {}),
  };
}

/** Returns a hold if the type does not accept these Endpoints; an empty or absent list accepts every type of Endpoint. */
export function ruleMismatch(type: ArtifactType, from: Resolution, to: Resolution): Hold | undefined {
  const { srcTypes = [], dstTypes = [] } = type.spec.rules ?? {};
  return mismatch(type, 'source', srcTypes, from) ?? mismatch(type, 'destination', dstTypes, to);
}

function mismatch(
  type: ArtifactType,
  side: string,
  allowed: readonly string[],
  found: Resolution,
): Hold | undefined {
  if (found.type === undefined || allowed.length === 0 || allowed.includes(found.type)) return undefined;
  const message = `artifact type "${type.metadata.name}" takes a ${side} of type ${allowed.join(', ')}, not "${found.type}"`;
  return { reason: 'RuleMismatch', message };
}
