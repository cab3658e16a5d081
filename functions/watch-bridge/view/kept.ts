import type { KubeObject } from '#shared/base/meta';
import {
  type ArtifactWorkflow,
  type Condition,
  deliveredCondition,
  group,
  isDeleting,
  isDutyKind,
  isFinished,
  isInShard,
  isQueued,
  labels,
  type Order,
  type Shard,
  transferOutcome,
  type Workflow,
} from '#shared/domain';

/**
 * What is kept of an object that was observed: what the duties of any object depend on and domain events say, and nothing else that is large. A test plays stories
 * and compares the duties of whole objects with those of what is kept.
 */
export function trimmed(object: KubeObject): KubeObject {
  const metadata = trimmedMetadata(object);
  const { apiVersion, kind } = object;
  switch (kind) {
    case 'Order':
      return trimmedOrder(object as unknown as Order, metadata);
    case 'ArtifactWorkflow':
      return trimmedArtifactWorkflow(object as unknown as ArtifactWorkflow, metadata);
    case 'Workflow':
      return { apiVersion, kind, metadata, ...trimmedRun(object as unknown as Workflow) };
    case 'CronWorkflow':
      return {
        apiVersion,
        kind,
        metadata,
        spec: pick(object.spec, ['suspend']),
        status: pick(object.status, cronStatus),
      };
    case 'Secret':
    case 'WorkflowTemplate':
    case 'ClusterWorkflowTemplate':
      // Their existence, or their version, is all that counts.
      return { apiVersion, kind, metadata };
    default:
      return { ...object, metadata };
  }
}

const workflowStatus = ['phase', 'message', 'progress', 'startedAt', 'finishedAt'];
const cronStatus = ['active', 'lastScheduledTime', 'succeeded', 'failed', 'conditions'];
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * Metadata with ARC's own annotations alone: kubectl's holds the whole object again, the data of a Secret too. An Endpoint keeps all: whoever
 * rotates a Secret may note that in any of them.
 */
function trimmedMetadata({ kind, metadata }: KubeObject): KubeObject['metadata'] {
  const { managedFields: _managed, annotations, ...rest } = metadata;
  if (annotations === undefined) return rest;
  const kept = Object.entries(annotations).filter(
    ([name]) => name !== lastApplied && (kind === 'Endpoint' || name.startsWith(`${group}/`)),
  );
  return kept.length === 0 ? rest : { ...rest, annotations: Object.fromEntries(kept) };
}

function trimmedOrder(order: Order, metadata: KubeObject['metadata']): KubeObject {
  const { status, ...rest } = order;
  if (status === undefined) return { ...rest, metadata } as unknown as KubeObject;
  const { conditions, ...kept } = status;
  const decisive = ['Ready', 'Stalled'];
  return {
    ...rest,
    metadata,
    status: { ...kept, ...shortened(conditions, decisive) },
  } as unknown as KubeObject;
}

function trimmedArtifactWorkflow(workflow: ArtifactWorkflow, metadata: KubeObject['metadata']): KubeObject {
  const { parameters: _parameters, artifact, ...bare } = workflow.spec;
  const spec = artifact?.name === undefined ? bare : { ...bare, artifact: { name: artifact.name } };
  const { status, ...rest } = workflow;
  if (status === undefined) return { ...rest, metadata, spec } as unknown as KubeObject;
  const { results, conditions, ...kept } = status;
  const outcome = results === undefined ? {} : { results: pick(results, ['digest', 'outcome', 'reason']) };
  return {
    ...rest,
    metadata,
    spec,
    status: { ...kept, ...outcome, ...shortened(conditions) },
  } as unknown as KubeObject;
}

/** Of conditions that matter what they say and since when. The end of an Order is announced by those that decide it. */
function shortened(conditions: readonly Condition[] | undefined, decisive: readonly string[] = []) {
  if (conditions === undefined) return {};
  const needed = ['Reconciling', deliveredCondition, ...decisive];
  const kept = conditions.filter(({ type }) => needed.includes(type));
  return {
    conditions: kept.map(({ type, status, lastTransitionTime }) => ({ type, status, lastTransitionTime })),
  };
}

/** A Workflow without its nodes, which may take a megabyte: they show whether Kueue has admitted it, and how a transfer that was stopped had ended. */
function trimmedRun(workflow: Workflow): Pick<KubeObject, 'spec' | 'status'> {
  const spec = pick(workflow.spec, ['suspend', 'shutdown']);
  const status = pick(workflow.status, workflowStatus);
  const nodes = isQueued(workflow) ? { nodes: { queued: { type: 'Pod', phase: 'Pending' } } } : {};
  const outcome = workflow.spec.shutdown === undefined ? undefined : transferOutcome(workflow);
  const value = JSON.stringify({ outcome });
  const outputs = outcome === undefined ? {} : { outputs: { parameters: [{ name: 'result', value }] } };
  return { spec, status: { ...status, ...nodes, ...outputs } };
}

function pick(value: unknown, names: readonly string[]): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(Object.entries(value).filter(([name]) => names.includes(name)));
}

/** Kinds of objects that concern one root alone where they carry the label of an Order, and may concern any where they do not. */
const ofOrders: ReadonlySet<string> = new Set(['Workflow', 'CronWorkflow', 'Secret']);

/** True for an object whose duties, or whose root's, are those of other shards. */
export function isForeign(object: KubeObject, shard: Shard): boolean {
  const isRooted = ofOrders.has(object.kind)
    ? object.metadata.labels?.[labels.order] !== undefined
    : isDutyKind(object.kind);
  return isRooted && !isInShard(object, shard);
}

/**
 * What a shard keeps of an object, undefined for nothing: its own roots with what belongs to them, and what these refer to. That is all Endpoints,
 * types and templates, and of the ArtifactWorkflows of others those that may hold up its own: unfinished, or being deleted.
 */
export function keptBy(shard: Shard, object: KubeObject): KubeObject | undefined {
  if (!isForeign(object, shard) || object.kind === 'Endpoint') return trimmed(object);
  if (object.kind !== 'ArtifactWorkflow') return undefined;
  const workflow = object as unknown as ArtifactWorkflow;
  return isFinished(workflow) && !isDeleting(workflow) ? undefined : trimmed(object);
}
