import { ArcError } from '#shared/errors';
import {
  artifactId,
  contentOf,
  type EffectiveArtifact,
  endpointsUsed,
  identityLabels,
  indexKey,
  likenessOf,
  versionKey,
  withDefaults,
} from '../identity/artifact.ts';
import { artifactWorkflowName, isLabelValue } from '../identity/names.ts';
import { targetOf } from '../identity/target.ts';
import type { ArtifactType } from '../kinds/artifact-type.ts';
import type { ArtifactWorkflow, ArtifactWorkflowSpec } from '../kinds/artifact-workflow.ts';
import type { Parameter } from '../kinds/common.ts';
import type { Endpoint } from '../kinds/endpoint.ts';
import type { Artifact, OnChange, Order } from '../kinds/order.ts';
import { apiVersion } from '../kinds/refs.ts';
import { annotations, finalizers, labels } from '../kinds/well-known.ts';
import { gravest, type Hold } from '../lifecycle/holds.ts';
import { withSchemaDefaults } from '../schema/defaults.ts';
import type { Schema } from '../schema/schema.ts';
import { valueCauses } from '../schema/value-causes.ts';
import type { Settings } from '../settings/settings.ts';
import { shortHash } from '../values/hash.ts';
import { defaultHistoryLimit } from '../values/limits.ts';
import { forceTime } from './effective.ts';
import {
  type EndpointUse,
  halfSeenHold,
  type Resolution,
  resolveEndpoint,
  ruleMismatch,
} from './endpoint-use.ts';
import { effectiveSpec, ignoredParameters, parametersFor, typeParameters } from './parameters.ts';
import { policyOf } from './policy.ts';
import { missingTemplate, type TemplateRef, templateOf, typesByName } from './templates.ts';

/** What an Order's artifacts refer to, as far as it exists: Endpoints of its namespace, types of it and of the cluster. */
export interface PlanInputs {
  endpoints: readonly Endpoint[];
  types: readonly ArtifactType[];
  /** Templates that the types refer to and that are not there. */
  missingTemplates?: readonly TemplateRef[];
}

/**
 * One distinct artifact of an Order. Its `id` finds the versions made of it before; its `key` is that of the version it needs now;
 * `cancel` where it, or the whole Order, is cancelled. One that is held has no version to make; `content` is what the user wrote of it, hashed.
 */
export type PlannedArtifact = { index: number; key: string; id: string; name?: string; cancel?: true } & (
  | { state: 'ready'; workflow: ArtifactWorkflow; target: string }
  | { state: 'held'; hold: Hold; content?: string }
);

export interface OrderPlan {
  /** In the order of spec.artifacts; of artifacts that are alike only the first. */
  artifacts: PlannedArtifact[];
  onChange: OnChange;
  /** How many finished versions of an artifact are kept beside the one in force. */
  historyLimit: number;
  /** What was left out of the types in use, for their authors. */
  notes: string[];
  /** The later of the force annotation and status.lastForceAt, in Unix seconds; 0 if never. */
  forceAt: number;
  /** By Endpoint name: what the plan was computed from. */
  endpointGenerations: Record<string, number>;
  secretGenerations: Record<string, number>;
  /** Hash of the state of everything it was computed from beside the Order itself (`inputsKey`). */
  inputs: string;
}

/**
 * The ArtifactWorkflows that an Order needs. Each artifact is planned by itself: one that cannot be planned is held, with its own
 * reason and message, and changes nothing for the others. `settings` are those of the operator.
 */
export function planOrder(order: Order, inputs: PlanInputs, settings: Settings = {}): OrderPlan {
  const scope = scopeOf(order, inputs, settings);
  const seen = new Set<string>();
  const writers = new Map<string, PlannedArtifact>();
  const artifacts = (order.spec.artifacts ?? []).flatMap((artifact, index) => {
    const planned = planSafely(scope, index, artifact, seen);
    return planned === undefined ? [] : [alone(planned, writers)];
  });
  return {
    artifacts,
    onChange:
      settings['enforced.onChange'] ?? order.spec.onChange ?? settings['defaults.onChange'] ?? 'Rerun',
    historyLimit:
      settings['enforced.revisionHistoryLimit'] ??
      order.spec.revisionHistoryLimit ??
      settings['defaults.revisionHistoryLimit'] ??
      defaultHistoryLimit,
    notes: notesOnTypes(order, scope.types),
    forceAt: scope.forceAt,
    ...generationsSeen(order, scope.endpoints),
    inputs: inputsKey(order, inputs, settings),
  };
}

/** 16 hex digits that change whenever an Endpoint, type, template or setting changes in a way that a plan of the Order may depend on. */
export function inputsKey(
  order: Order,
  { endpoints, types, missingTemplates = [] }: PlanInputs,
  settings: Settings,
): string {
  const used = new Set(endpointsUsed(order));
  const wanted = new Set((order.spec.artifacts ?? []).map(({ type }) => type));
  const isForPlans = ([key]: [string, unknown]) => /^(defaults|enforced)\.|^features\.ttl$/.test(key);
  return shortHash([
    endpoints
      .filter(({ metadata }) => used.has(metadata.name))
      .map(endpointState)
      .sort(),
    types
      .filter(({ metadata }) => wanted.has(metadata.name))
      .map(typeState)
      .sort(),
    missingTemplates.map(({ name, clusterScope = false }) => `${name}/${clusterScope}`).sort(),
    Object.entries(settings)
      .filter(isForPlans)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  ]);
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

function notesOnTypes({ spec }: Order, types: ReadonlyMap<string, ArtifactType>): string[] {
  const used = new Set((spec.artifacts ?? []).map(({ type }) => type));
  return [...used].flatMap((name) => {
    const type = types.get(name);
    return (type && ignoredParameters(type)) ?? [];
  });
}

interface Scope {
  order: Order;
  endpoints: Map<string, Endpoint>;
  types: Map<string, ArtifactType>;
  missingTemplates: readonly TemplateRef[];
  settings: Settings;
  forceAt: number;
}

function scopeOf(order: Order, inputs: PlanInputs, settings: Settings): Scope {
  const types = typesByName(inputs.types);
  const endpoints = new Map(inputs.endpoints.map((endpoint) => [endpoint.metadata.name, endpoint]));
  const { missingTemplates = [] } = inputs;
  return { order, endpoints, types, missingTemplates, settings, forceAt: forceTime(order) };
}

/** Undefined for an artifact that is alike one in `seen`. */
function planSafely(
  scope: Scope,
  index: number,
  artifact: Artifact,
  seen: Set<string>,
): PlannedArtifact | undefined {
  try {
    const likeness = likenessOf(scope.order, artifact);
    if (seen.has(likeness)) return undefined;
    seen.add(likeness);
    return planArtifact(scope, index, artifact);
  } catch (caught) {
    // A spec may be nested deeper than the stack allows: that must not stop the other artifacts.
    const message = `artifact ${index} cannot be planned: ${ArcError.from(caught).message}`;
    const key = indexKey(index);
    return {
      index,
      key,
      id: key,
      ...cancelOf(scope.order, artifact),
      state: 'held',
      hold: { reason: 'SpecUnreadable', message },
    };
  }
}

/** The artifact, or Invalid where one before it writes to the same place: the last to finish would win. */
function alone(planned: PlannedArtifact, writers: Map<string, PlannedArtifact>): PlannedArtifact {
  if (planned.state !== 'ready') return planned;
  const first = writers.get(planned.target);
  if (first === undefined) {
    writers.set(planned.target, planned);
    return planned;
  }
  const { workflow: _workflow, target: _target, ...common } = planned;
  const { index } = planned;
  const key = indexKey(index);
  const called = first.name === undefined ? '' : ` (${first.name})`;
  const message = `artifact ${first.index}${called} writes to the same place at the destination; give one of them another`;
  return { ...common, key, id: key, state: 'held', hold: { reason: 'TargetTaken', message } };
}

function planArtifact(scope: Scope, index: number, given: Artifact): PlannedArtifact {
  const { order } = scope;
  const { type, artifact } = typedArtifact(scope, withDefaults(order, given));
  const id = artifactId(order, given);
  const common = {
    index,
    id,
    ...(given.name === undefined ? {} : { name: given.name }),
    ...cancelOf(order, given),
  };
  const from = resolveEndpoint(scope.endpoints, artifact.source, 'source');
  const to = resolveEndpoint(scope.endpoints, artifact.destination, 'destination');
  const hold = holdOf(scope, artifact, from, to);
  if (hold) {
    const content = contentOf(order, given);
    return { ...common, key: indexKey(index), state: 'held', hold, content };
  }
  if (from.state !== 'ready' || to.state !== 'ready' || !type) {
    throw new ArcError('InternalError', 'an artifact without a problem has no Endpoints or no type');
  }
  const key = versionKey({
    order,
    artifact,
    template: templateOf(type),
    parameters: typeParameters(type),
    source: from.use.identity,
    destination: to.use.identity,
    forceAt: scope.forceAt,
  });
  const parameters = parametersFor({
    source: from.use.parameters,
    destination: to.use.parameters,
    cron: artifact.cron !== undefined,
    spec: artifact.spec,
    typeParameters: typeParameters(type),
  });
  const { remoteURL } = to.use.parameters;
  const target = targetOf({ type, remoteURL, parameters, spec: artifact.spec });
  const parts = { given, artifact, type, from: from.use, to: to.use, parameters, key, id, target };
  return { ...common, key, state: 'ready', target, workflow: workflowOf(scope, parts) };
}

function cancelOf(order: Order, given: Artifact): { cancel?: true } {
  return order.spec.cancel === true || given.cancel === true ? { cancel: true } : {};
}

/** The artifact with the defaults of its type's schema. */
function typedArtifact({ types }: Scope, artifact: EffectiveArtifact) {
  const type = types.get(artifact.type);
  const schema = type?.spec.schema as Schema | undefined;
  if (schema === undefined) return { type, artifact };
  return { type, artifact: { ...artifact, spec: withSchemaDefaults(schema, artifact.spec) } };
}

/** Why the spec does not fit the schema of its type; patterns have been compared when the Order was written. */
function specMismatch(type: ArtifactType, spec: EffectiveArtifact['spec']): Hold | undefined {
  if (type.spec.schema === undefined) return undefined;
  const [problem] = valueCauses('spec', type.spec.schema as Schema, spec);
  if (problem === undefined) return undefined;
  const message = `it does not fit the schema of artifact type "${type.metadata.name}": ${problem.field}: ${problem.message}`;
  return { reason: 'SpecMismatch', message };
}

function holdOf(
  scope: Scope,
  { type: typeName, spec }: EffectiveArtifact,
  from: Resolution,
  to: Resolution,
): Hold | undefined {
  const type = scope.types.get(typeName);
  const message = `artifact type "${typeName}" not found: create an ArtifactType in this namespace or a ClusterArtifactType, or correct type`;
  const ofEndpoints = [from, to].map((found) => (found.state === 'held' ? found.hold : undefined));
  const ofType: (Hold | undefined)[] = type
    ? [ruleMismatch(type, from, to), specMismatch(type, spec), missingTemplate(type, scope.missingTemplates)]
    : [{ reason: 'TypeMissing', message }];
  const halfSeen =
    from.state === 'ready' && to.state === 'ready' ? halfSeenHold(from.use, to.use) : undefined;
  return gravest([...ofEndpoints, ...ofType, halfSeen]);
}

interface Parts {
  given: Artifact;
  artifact: EffectiveArtifact;
  type: ArtifactType;
  from: EndpointUse;
  to: EndpointUse;
  parameters: Parameter[];
  key: string;
  id: string;
  target: string;
}

function workflowOf(scope: Scope, parts: Parts): ArtifactWorkflow {
  const { order } = scope;
  const { metadata } = order;
  const { artifact, given } = parts;
  const typeLabel = artifact.type !== '' && isLabelValue(artifact.type);
  return {
    apiVersion,
    kind: 'ArtifactWorkflow',
    metadata: {
      name: artifactWorkflowName(metadata.name, parts.key, artifact.cron !== undefined),
      ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
      labels: {
        ...identityLabels(order, parts.id, parts.target),
        ...(typeLabel ? { [labels.artifactType]: artifact.type } : {}),
      },
      ...notesOf(scope, given),
      finalizers: [finalizers.workflow],
      ownerReferences: [
        {
          apiVersion,
          kind: 'Order',
          name: metadata.name,
          uid: metadata.uid ?? '',
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: specOf(scope, parts),
  };
}

function notesOf(
  { order, forceAt }: Scope,
  given: Artifact,
): Pick<ArtifactWorkflow['metadata'], 'annotations'> {
  const notes = {
    ...(forceAt > 0 ? { [annotations.orderForceAt]: String(forceAt) } : {}),
    ...(given.name === undefined ? {} : { [annotations.content]: contentOf(order, given) }),
  };
  return Object.keys(notes).length === 0 ? {} : { annotations: notes };
}

function specOf({ order, settings }: Scope, parts: Parts): ArtifactWorkflowSpec {
  const { given, artifact, type, from, to, parameters } = parts;
  const { cron, spec } = artifact;
  return {
    workflowTemplateRef: templateOf(type),
    parameters,
    ...(from.secretRef ? { srcSecretRef: from.secretRef } : {}),
    ...(to.secretRef ? { dstSecretRef: to.secretRef } : {}),
    type: artifact.type,
    srcRef: from.ref,
    dstRef: to.ref,
    artifact: {
      ...(given.name === undefined ? {} : { name: given.name }),
      spec: effectiveSpec(spec, typeParameters(type)),
    },
    ...policyOf(order, type, [from, to], settings),
    ...(cron === undefined ? {} : { cron }),
  };
}

function generationsSeen(order: Order, endpoints: Map<string, Endpoint>) {
  const found = endpointsUsed(order).flatMap((name) => endpoints.get(name) ?? []);
  return {
    endpointGenerations: Object.fromEntries(
      found.map(({ metadata }) => [metadata.name, metadata.generation ?? 0]),
    ),
    secretGenerations: Object.fromEntries(
      found.flatMap(({ metadata, status }) =>
        status?.secretGeneration === undefined ? [] : [[metadata.name, status.secretGeneration]],
      ),
    ),
  };
}
