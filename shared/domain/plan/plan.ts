import { ArcError } from '#shared/base/errors';
import type { Json } from '#shared/base/meta';
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
import { type Target, targetOf } from '../identity/target.ts';
import type { ArtifactType } from '../kinds/artifact-type.ts';
import type { ArtifactWorkflow, ArtifactWorkflowSpec } from '../kinds/artifact-workflow.ts';
import type { Parameter } from '../kinds/common.ts';
import type { Endpoint } from '../kinds/endpoint.ts';
import type { Artifact, OnChange, Order } from '../kinds/order.ts';
import { apiVersion } from '../kinds/refs.ts';
import { annotations, finalizers, labels } from '../kinds/well-known.ts';
import { type Hold, mostSerious } from '../lifecycle/holds.ts';
import { withSchemaDefaults } from '../schema/defaults.ts';
import type { Schema } from '../schema/schema.ts';
import type { Settings } from '../settings/settings.ts';
import { defaultHistoryLimit } from '../values/limits.ts';
import { forceTime } from './effective.ts';
import {
  type EndpointUse,
  halfSeenHold,
  type Resolution,
  resolveEndpoint,
  ruleMismatch,
} from './endpoint-use.ts';
import {
  type EnforcedPolicy,
  type Enforcement,
  enforcementOn,
  policyNotApplied,
  typeNotAllowed,
} from './enforced.ts';
import { inputsKey, type PlanInputs } from './inputs.ts';
import { ignoredParameters, parametersFor, typeParameters } from './parameters.ts';
import { effectiveSpec } from './pins.ts';
import { policyOf } from './policy.ts';
import { specMismatch } from './spec-mismatch.ts';
import { missingTemplate, type TemplateRef, templateOf, typesByName } from './templates.ts';

export type { PlanInputs } from './inputs.ts';

/**
 * One distinct artifact of an Order. `id` finds its existing versions; `key` is that of the wanted version; `cancel` is set if the artifact or
 * the whole Order is cancelled. A held artifact has no version to create; `content` is the hash of what the user wrote.
 */
export type PlannedArtifact = { index: number; key: string; id: string; name?: string; cancel?: true } & (
  | { state: 'ready'; workflow: ArtifactWorkflow; target: Target }
  | {
      state: 'held';
      hold: Hold;
      content?: string;
      /** Digests of the policies that are enforced on it, if known. */
      enforced?: readonly string[];
      /** It may not be transferred as it is: a running version is stopped. */
      isForbidden?: true;
    }
);

export interface OrderPlan {
  /** In the order of spec.artifacts; of identical artifacts only the first. */
  artifacts: PlannedArtifact[];
  onChange: OnChange;
  /** How many finished versions of an artifact are kept beside the one in force. */
  historyLimit: number;
  /** What was ignored in the types in use, for their authors. */
  notes: string[];
  /** The later of the force annotation and status.lastForceAt, in Unix seconds; 0 if never. */
  forceAt: number;
  /** By Endpoint name: what the plan was computed from. */
  endpointGenerations: Record<string, number>;
  secretGenerations: Record<string, number>;
  /** Hash of every input of the plan except the Order itself (`inputsKey`). */
  inputs: string;
}

/**
 * Returns the ArtifactWorkflows that an Order needs. Each artifact is planned by itself: an artifact that cannot be planned is held, with its
 * own reason and message, and affects no other. `settings` are those of the operator.
 */
export function planOrder(order: Order, inputs: PlanInputs, settings: Settings = {}): OrderPlan {
  const scope = scopeOf(order, inputs, settings);
  const seen = new Set<string>();
  const writers = new Map<string, PlannedArtifact & { state: 'ready' }>();
  const artifacts = (order.spec.artifacts ?? []).flatMap((artifact, index) => {
    const planned = planSafely(scope, index, artifact, seen);
    return planned === undefined ? [] : [alone(order, planned, writers)];
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
  applyingTemplates: readonly string[] | undefined;
  /** By the name of the destination, which need not exist. */
  enforcement: (destination: string | undefined) => Enforcement;
  settings: Settings;
  forceAt: number;
}

function scopeOf(order: Order, inputs: PlanInputs, settings: Settings): Scope {
  const types = typesByName(inputs.types);
  const endpoints = new Map(inputs.endpoints.map((endpoint) => [endpoint.metadata.name, endpoint]));
  const { missingTemplates = [], applyingTemplates } = inputs;
  const { namespace } = order.metadata;
  const known = new Map<string | undefined, Enforcement>();
  const enforcement = (name: string | undefined) => {
    const found =
      known.get(name) ??
      enforcementOn({ namespace, destination: endpoints.get(name ?? ''), types: inputs.types, settings });
    known.set(name, found);
    return found;
  };
  const forceAt = forceTime(order);
  return { order, endpoints, types, missingTemplates, applyingTemplates, enforcement, settings, forceAt };
}

/** Returns undefined for an artifact identical to one in `seen`. */
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

/** Returns the artifact, or Invalid if an earlier artifact writes to the same place: the last to finish would win. */
function alone(
  order: Order,
  planned: PlannedArtifact,
  writers: Map<string, PlannedArtifact & { state: 'ready' }>,
): PlannedArtifact {
  if (planned.state !== 'ready') return planned;
  const first = writers.get(planned.target.key);
  if (first === undefined) {
    writers.set(planned.target.key, planned);
    return planned;
  }
  if (wasAlone(order, planned, first)) return planned;
  const { workflow: _workflow, target, ...common } = planned;
  const { index } = planned;
  const key = indexKey(index);
  const called = first.name === undefined ? '' : ` (${first.name})`;
  const place = target.address === undefined ? '' : `, ${target.address}`;
  const message = `artifact ${first.index}${called} writes to the same place at the destination${place}; give one of them another`;
  return { ...common, key, id: key, state: 'held', hold: { reason: 'TargetTaken', message } };
}

/**
 * True for two artifacts of one place that were both put in force by an earlier release, which compared only spellings: neither is withdrawn,
 * and mutual exclusion keeps them apart. The status of a current Order never has both.
 */
function wasAlone(
  { status }: Order,
  { key, target }: PlannedArtifact & { state: 'ready' },
  first: PlannedArtifact & { state: 'ready' },
): boolean {
  const former = ({ key: now, formerKey = now }: Target) => formerKey;
  const known = status?.artifactWorkflows ?? {};
  const areKnown = known[key] !== undefined && known[first.key] !== undefined;
  return areKnown && former(target) !== former(first.target);
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
  const enforcement = scope.enforcement(artifact.destination);
  const digests = [...new Set(enforcement.policies.map(({ digest }) => digest))].sort();
  const forbidden = forbiddenBy(scope, artifact, enforcement);
  const hold = mostSerious([...forbidden, holdOf(scope, artifact, from, to)]);
  if (hold) {
    const content = contentOf(order, given);
    return {
      ...common,
      key: indexKey(index),
      state: 'held',
      hold,
      content,
      ...(digests.length > 0 && { enforced: digests }),
      ...(forbidden.length > 0 && { isForbidden: true }),
    };
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
    policies: digests,
    forceAt: scope.forceAt,
    verified: order.spec.verify === 'Always',
  });
  const spec = effectiveSpec(artifact.spec, typeParameters(type), type.spec.schema as Schema | undefined);
  const parameters = parametersFor({
    source: from.use.parameters,
    destination: to.use.parameters,
    cron: artifact.cron !== undefined,
    spec,
    typeParameters: typeParameters(type),
  });
  const target = targetOf({
    type,
    source: from.type,
    destination: to.use.location,
    parameters,
    spec,
    written: artifact.spec,
  });
  const { policies } = enforcement;
  const parts = {
    given,
    artifact,
    spec,
    type,
    from: from.use,
    to: to.use,
    parameters,
    policies,
    key,
    id,
    target,
  };
  return { ...common, key, state: 'ready', target, workflow: workflowOf(scope, parts) };
}

function cancelOf(order: Order, given: Artifact): { cancel?: true } {
  return order.spec.cancel === true || given.cancel === true ? { cancel: true } : {};
}

/** Returns the artifact with the defaults of its type's schema. */
function typedArtifact({ types }: Scope, artifact: EffectiveArtifact) {
  const type = types.get(artifact.type);
  const schema = type?.spec.schema as Schema | undefined;
  if (schema === undefined) return { type, artifact };
  return { type, artifact: { ...artifact, spec: withSchemaDefaults(schema, artifact.spec) } };
}

/** Returns why its Endpoints, or an enforced policy, forbid the transfer. */
function forbiddenBy(
  { endpoints, types, applyingTemplates }: Scope,
  { type: typeName, source, destination }: EffectiveArtifact,
  enforcement: Enforcement,
): Hold[] {
  const type = types.get(typeName);
  return [
    typeNotAllowed(typeName, endpoints.get(source ?? '')),
    typeNotAllowed(typeName, endpoints.get(destination ?? '')),
    enforcement.hold,
    type && applyingTemplates && policyNotApplied(templateOf(type), enforcement, applyingTemplates),
  ].filter((hold) => hold !== undefined);
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
  return mostSerious([...ofEndpoints, ...ofType, halfSeen]);
}

interface Parts {
  given: Artifact;
  artifact: EffectiveArtifact;
  /** With the type's parameters applied. */
  spec: Record<string, Json>;
  type: ArtifactType;
  from: EndpointUse;
  to: EndpointUse;
  parameters: Parameter[];
  policies: readonly EnforcedPolicy[];
  key: string;
  id: string;
  target: Target;
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
        ...identityLabels(order, parts.id, parts.target.key),
        ...(typeLabel ? { [labels.artifactType]: artifact.type } : {}),
        ...(isLabelValue(metadata.name) ? { [labels.orderName]: metadata.name } : {}),
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
  const { given, artifact, spec, type, from, to, parameters, policies } = parts;
  const { cron } = artifact;
  const { verify } = order.spec;
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
      spec,
    },
    ...(policies.length > 0 && {
      policies: policies.map(({ from: who, digest }) => ({ from: who, digest })),
    }),
    ...policyOf(order, type, [from, to], settings),
    ...(cron === undefined ? {} : { cron }),
    ...(verify === undefined || verify === 'OnForce' ? {} : { verify }),
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
