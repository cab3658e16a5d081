import { endpointsUsed } from '../identity/artifact.ts';
import type { ArtifactType } from '../kinds/artifact-type.ts';
import type { Endpoint } from '../kinds/endpoint.ts';
import type { Order } from '../kinds/order.ts';
import type { Settings } from '../settings/settings.ts';
import { shortHash } from '../values/hash.ts';
import { enforcedTypes, policyTypes } from './enforced.ts';
import type { TemplateRef } from './templates.ts';

/** The existing objects that an Order's artifacts refer to: Endpoints of its namespace, types of the namespace and of the cluster. */
export interface PlanInputs {
  endpoints: readonly Endpoint[];
  types: readonly ArtifactType[];
  /** Templates that the types refer to and that do not exist. */
  missingTemplates?: readonly TemplateRef[];
  /** Names of the ClusterWorkflowTemplates that apply policies. Absent: not read here; render-secret reads them. */
  applyingTemplates?: readonly string[];
}

/** Returns 16 hex digits that change whenever an Endpoint, type, template or setting changes in a way that the Order's plan may depend on. */
export function inputsKey(
  order: Order,
  { endpoints, types, missingTemplates = [], applyingTemplates = [] }: PlanInputs,
  settings: Settings,
): string {
  const { namespace } = order.metadata;
  const used = new Set(endpointsUsed(order));
  const usedEndpoints = endpoints.filter(({ metadata }) => used.has(metadata.name));
  const policies = policyTypes(namespace, usedEndpoints, settings);
  const wanted = new Set(typesUsed(order, usedEndpoints, settings));
  const isForPlans = ([key]: [string, unknown]) =>
    key !== 'enforced.policy' && /^(defaults|enforced)\.|^features\.ttl$/.test(key);
  return shortHash([
    usedEndpoints.map(endpointState).sort(),
    types
      .filter(({ metadata }) => wanted.has(metadata.name))
      .map(typeState)
      .sort(),
    missingTemplates.map(({ name, clusterScope = false }) => `${name}/${clusterScope}`).sort(),
    Object.entries(settings)
      .filter(isForPlans)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
    ...(policies.length === 0
      ? []
      : [enforcedTypes(namespace, settings).sort(), [...applyingTemplates].sort()]),
  ]);
}

/** Returns the names of the types that decide about an Order: those of its artifacts and those whose policies bind them. Deduplicated. */
export function typesUsed(order: Order, endpoints: readonly Endpoint[], settings: Settings): string[] {
  const named = (order.spec.artifacts ?? []).map(({ type }) => type);
  return [...new Set([...named, ...policyTypes(order.metadata.namespace, endpoints, settings)])];
}

function endpointState({ metadata, status = {} }: Endpoint): string {
  const { name, uid, generation, deletionTimestamp } = metadata;
  const { observedGeneration, secretGeneration, credentialDigest } = status;
  return [
    name,
    uid,
    generation,
    deletionTimestamp,
    observedGeneration,
    secretGeneration,
    credentialDigest,
  ].join();
}

function typeState({ kind, metadata: { name, uid, generation } }: ArtifactType): string {
  return [kind, name, uid, generation].join();
}
