import { ArcError } from '#shared/errors';
import { canonicalJson } from '#shared/meta';
import { artifactWorkflowName, isLabelValue } from '../identity/names.ts';
import type { ArtifactType } from '../kinds/artifact-type.ts';
import type { ArtifactWorkflow, ArtifactWorkflowSpec } from '../kinds/artifact-workflow.ts';
import type { Endpoint } from '../kinds/endpoint.ts';
import type { Artifact, OnChange, Order } from '../kinds/order.ts';
import { apiVersion } from '../kinds/refs.ts';
import { annotations, finalizers, labels } from '../kinds/well-known.ts';
import { shortHash } from '../values/canonical.ts';
import { effectiveCron, forceTime, secondsTtl } from './effective.ts';
import { type EndpointUse, halfSeenReason, type Resolution, resolveEndpoint } from './endpoint-use.ts';
import { effectiveSpec, parametersFor } from './parameters.ts';
import { ruleMismatch } from './rules.ts';
import { missingTemplate, type TemplateRef, templateOf, typesByName } from './templates.ts';

/** What an Order's artifacts refer to, as far as it exists: Endpoints of its namespace, types of it and of the cluster. */
export interface PlanInputs {
  endpoints: readonly Endpoint[];
  types: readonly ArtifactType[];
  /** Templates that the types refer to and that are not there. */
  missingTemplates?: readonly TemplateRef[];
}

/** One distinct artifact of an Order. `label` ties it to the ArtifactWorkflows made for it before, whatever their inputs. */
export type PlannedArtifact = { index: number; key: string; label: string; name?: string } & (
  | { state: 'ready'; workflow: ArtifactWorkflow }
  | { state: 'waiting' | 'invalid'; message: string }
);

export interface OrderPlan {
  /** In the order of spec.artifacts; of artifacts that are alike only the first. */
  artifacts: PlannedArtifact[];
  onChange: OnChange;
  /** The later of the force annotation and status.lastForceAt, in Unix seconds; 0 if never. */
  forceAt: number;
  /** By Endpoint name: what the plan was computed from. */
  endpointGenerations: Record<string, number>;
  secretGenerations: Record<string, number>;
}

/** What an operator sets for all Orders. */
export interface PlanDefaults {
  onChange?: OnChange;
}

/**
 * Which ArtifactWorkflows an Order asks for. Each artifact is judged by itself: one that cannot be planned is `invalid`
 * (somebody has to act) or `waiting` (a function has to), with its own message, and changes nothing for the others.
 */
export function planOrder(order: Order, inputs: PlanInputs, defaults: PlanDefaults = {}): OrderPlan {
  const scope = scopeOf(order, inputs);
  const byLabel = new Map<string, PlannedArtifact>();
  for (const [index, artifact] of (order.spec.artifacts ?? []).entries()) {
    const planned = planSafely(scope, artifact, index);
    if (!byLabel.has(planned.label)) byLabel.set(planned.label, planned);
  }
  return {
    artifacts: [...byLabel.values()],
    onChange: order.spec.onChange ?? defaults.onChange ?? 'Rerun',
    forceAt: scope.forceAt,
    ...generationsSeen(order, scope.endpoints),
  };
}

interface Scope {
  order: Order;
  endpoints: Map<string, Endpoint>;
  types: Map<string, ArtifactType>;
  missingTemplates: readonly TemplateRef[];
  forceAt: number;
  /** By label: the schedule of the first artifact that has it. */
  schedules: Map<string, string>;
}

function scopeOf(order: Order, inputs: PlanInputs): Scope {
  const types = typesByName(inputs.types);
  const endpoints = new Map(inputs.endpoints.map((endpoint) => [endpoint.metadata.name, endpoint]));
  const { missingTemplates = [] } = inputs;
  return { order, endpoints, types, missingTemplates, forceAt: forceTime(order), schedules: new Map() };
}

function planSafely(scope: Scope, artifact: Artifact, index: number): PlannedArtifact {
  try {
    return planArtifact(scope, artifact, index);
  } catch (caught) {
    // A spec nested beyond what the stack bears, say: the artifact's own misfortune.
    const message = `artifact ${index} cannot be planned: ${ArcError.from(caught).message}`;
    return { index, key: `index-${index}`, label: `index-${index}`, state: 'invalid', message };
  }
}

function planArtifact(scope: Scope, artifact: Artifact, index: number): PlannedArtifact {
  const { order } = scope;
  const source = artifact.srcRef?.name ?? order.spec.defaults?.srcRef?.name;
  const destination = artifact.dstRef?.name ?? order.spec.defaults?.dstRef?.name;
  const cron = effectiveCron(order, artifact);
  const label = labelOf(
    scope,
    [artifact.type, source ?? null, destination ?? null, artifact.spec ?? {}],
    cron,
  );
  const common = { index, label, ...(artifact.name === undefined ? {} : { name: artifact.name }) };

  const from = resolveEndpoint(scope.endpoints, source, 'source');
  const to = resolveEndpoint(scope.endpoints, destination, 'destination');
  const type = scope.types.get(artifact.type);
  const problem = firstProblem(scope, artifact.type, from, to);
  if (problem) return { ...common, key: `index-${index}`, ...problem };
  if (from.state !== 'ready' || to.state !== 'ready' || !type) {
    throw new ArcError('InternalError', 'an artifact without a problem has no Endpoints or no type');
  }
  const key = keyOf(scope, artifact, type, from.use, to.use);
  const workflow = workflowOf(scope, artifact, { type, from: from.use, to: to.use, key, label });
  return {
    ...common,
    key,
    state: 'ready',
    ...(cron ? { workflow: withCron(workflow, cron) } : { workflow }),
  };
}

/**
 * What the user wrote, without generations, force time or schedule: a new schedule is the same artifact. Only where one
 * Order moves the same thing on two schedules does the schedule of the second count.
 */
function labelOf(scope: Scope, identity: unknown[], cron: Artifact['cron']): string {
  const label = shortHash([scope.order.metadata.uid ?? '', ...identity]);
  const schedule = canonicalJson(cron ?? null);
  const first = scope.schedules.get(label);
  if (first === undefined) scope.schedules.set(label, schedule);
  return first === undefined || first === schedule ? label : shortHash([label, schedule]);
}

function withCron(workflow: ArtifactWorkflow, cron: NonNullable<Artifact['cron']>): ArtifactWorkflow {
  return { ...workflow, spec: { ...workflow.spec, cron } };
}

// What needs a person is told before what needs only time.
function firstProblem(
  scope: Scope,
  typeName: string,
  from: Resolution,
  to: Resolution,
): { state: 'invalid' | 'waiting'; message: string } | undefined {
  for (const found of [from, to]) if (found.state === 'invalid') return found;
  const type = scope.types.get(typeName);
  if (!type) {
    const message = `artifact type "${typeName}" not found: neither an ArtifactType in this namespace nor a ClusterArtifactType`;
    return { state: 'invalid', message };
  }
  const mismatch = ruleMismatch(type, from, to);
  const unusable = mismatch ?? missingTemplate(type, scope.missingTemplates);
  if (unusable) return { state: 'invalid', message: unusable };
  for (const found of [from, to]) if (found.state === 'waiting') return found;
  const halfSeen =
    from.state === 'ready' && to.state === 'ready' ? halfSeenReason(from.use, to.use) : undefined;
  return halfSeen === undefined ? undefined : { state: 'waiting', message: halfSeen };
}

/** Everything that makes a transfer another one; not what only says how it is treated (TTL, retry, queue). */
function keyOf(
  scope: Scope,
  artifact: Artifact,
  type: ArtifactType,
  from: EndpointUse,
  to: EndpointUse,
): string {
  const { order } = scope;
  return shortHash([
    order.metadata.namespace ?? '',
    order.metadata.uid ?? '',
    artifact.type,
    templateOf(type),
    type.spec.parameters ?? [],
    artifact.spec ?? {},
    from.identity,
    to.identity,
    effectiveCron(order, artifact) ?? null,
    scope.forceAt,
  ]);
}

interface Parts {
  type: ArtifactType;
  from: EndpointUse;
  to: EndpointUse;
  key: string;
  label: string;
}

function workflowOf(scope: Scope, artifact: Artifact, parts: Parts): ArtifactWorkflow {
  const { order } = scope;
  const { metadata } = order;
  const cron = effectiveCron(order, artifact) !== undefined;
  const typeLabel = artifact.type !== '' && isLabelValue(artifact.type);
  return {
    apiVersion,
    kind: 'ArtifactWorkflow',
    metadata: {
      name: artifactWorkflowName(metadata.name, parts.key, cron),
      ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
      labels: {
        [labels.artifact]: parts.label,
        [labels.order]: metadata.uid ?? '',
        ...(typeLabel ? { [labels.artifactType]: artifact.type } : {}),
      },
      ...(scope.forceAt > 0 ? { annotations: { [annotations.orderForceAt]: String(scope.forceAt) } } : {}),
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
    spec: specOf(order, artifact, parts, cron),
  };
}

function specOf(order: Order, artifact: Artifact, parts: Parts, cron: boolean): ArtifactWorkflowSpec {
  const { type, from, to } = parts;
  const typeParameters = type.spec.parameters ?? [];
  const spec = artifact.spec ?? {};
  return {
    workflowTemplateRef: templateOf(type),
    parameters: parametersFor({
      source: from.parameters,
      destination: to.parameters,
      cron,
      spec,
      typeParameters,
    }),
    ...(from.secretRef ? { srcSecretRef: from.secretRef } : {}),
    ...(to.secretRef ? { dstSecretRef: to.secretRef } : {}),
    type: artifact.type,
    srcRef: from.ref,
    dstRef: to.ref,
    artifact: {
      ...(artifact.name === undefined ? {} : { name: artifact.name }),
      spec: effectiveSpec(spec, typeParameters),
    },
    ...policyOf(order, type),
  };
}

/** The mutable part of an ArtifactWorkflow's spec: the Order's word before the type's. */
export function policyOf(order: Order, type: ArtifactType): Partial<ArtifactWorkflowSpec> {
  const seconds = secondsTtl(order.spec.ttlSecondsAfterCompletion);
  const finished = seconds ?? type.spec.ttlAfterFinished;
  const failed = seconds ?? type.spec.ttlAfterFailed;
  const retry = order.spec.retry ?? type.spec.retry;
  const queueName = order.spec.queueName ?? type.spec.queueName;
  return {
    ...(finished === undefined ? {} : { ttlAfterFinished: finished }),
    ...(failed === undefined ? {} : { ttlAfterFailed: failed }),
    ...(retry === undefined ? {} : { retry }),
    ...(queueName === undefined ? {} : { queueName }),
    ...(order.spec.suspend === true ? { suspend: true } : {}),
  };
}

function generationsSeen(order: Order, endpoints: Map<string, Endpoint>) {
  const { defaults, artifacts = [] } = order.spec;
  const names = new Set<string>();
  for (const { srcRef, dstRef } of artifacts) {
    for (const ref of [srcRef ?? defaults?.srcRef, dstRef ?? defaults?.dstRef]) if (ref) names.add(ref.name);
  }
  const found = [...names].sort().flatMap((name) => endpoints.get(name) ?? []);
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
