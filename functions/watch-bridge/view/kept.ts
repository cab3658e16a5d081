import type { ObjectMeta } from '#shared/base/meta';
import {
  type ArtifactType,
  type ArtifactWorkflow,
  type Condition,
  type ConfigMap,
  type CronWorkflow,
  deliveredCondition,
  type Endpoint,
  group,
  hasDuties,
  isDeleting,
  isFinished,
  isInShard,
  isQueued,
  labels,
  type ObjectOf,
  type Order,
  type Shard,
  transferOutcome,
  type Workflow,
} from '#shared/domain';

/** An object that the bridge observes. Only the metadata of Secrets, accounts and templates counts. */
export type Observed =
  | Order
  | ArtifactWorkflow
  | Endpoint
  | ArtifactType
  | Workflow
  | CronWorkflow
  | ConfigMap
  | ObjectOf<'Secret' | 'ServiceAccount' | 'WorkflowTemplate' | 'ClusterWorkflowTemplate'>;

/**
 * Returns the part of an observed object that the duties of any object depend on or that domain events contain, without other large parts. A
 * test compares the duties of whole objects with those of trimmed objects over random stories.
 */
export function trimmed(object: Observed): Observed {
  const metadata = trimmedMetadata(object);
  const { apiVersion } = object;
  switch (object.kind) {
    case 'Order':
      return trimmedOrder(object, metadata);
    case 'ArtifactWorkflow':
      return trimmedArtifactWorkflow(object, metadata);
    case 'Workflow':
      return { apiVersion, kind: object.kind, metadata, ...trimmedRun(object) };
    case 'CronWorkflow':
      return {
        ...object,
        metadata,
        spec: { workflowSpec: {}, ...pick(object.spec, ['suspend']) },
        status: pick(object.status, cronStatus),
      };
    case 'Secret':
    case 'WorkflowTemplate':
    case 'ClusterWorkflowTemplate':
      // Only their existence, or their version, counts.
      return { apiVersion, kind: object.kind, metadata };
    default:
      return { ...object, metadata };
  }
}

const workflowStatus = ['phase', 'message', 'progress', 'startedAt', 'finishedAt'];
const cronStatus = ['active', 'lastScheduledTime', 'succeeded', 'failed', 'conditions'];
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * Keeps only ARC's own annotations: kubectl's contain the whole object again, including the data of a Secret. Endpoints keep all of theirs:
 * whoever rotates a Secret may record that in any annotation.
 */
function trimmedMetadata({ kind, metadata }: Observed): ObjectMeta {
  const { managedFields: _managed, annotations, ...rest } = metadata;
  if (annotations === undefined) return rest;
  const kept = Object.entries(annotations).filter(
    ([name]) => name !== lastApplied && (kind === 'Endpoint' || name.startsWith(`${group}/`)),
  );
  return kept.length === 0 ? rest : { ...rest, annotations: Object.fromEntries(kept) };
}

function trimmedOrder(order: Order, metadata: ObjectMeta): Order {
  const { status, ...rest } = order;
  if (status === undefined) return { ...rest, metadata };
  const { conditions, ...kept } = status;
  const decisive = ['Ready', 'Stalled'];
  return { ...rest, metadata, status: { ...kept, ...shortened(conditions, decisive) } };
}

function trimmedArtifactWorkflow(workflow: ArtifactWorkflow, metadata: ObjectMeta): ArtifactWorkflow {
  const { artifact, ...bare } = workflow.spec;
  const named = artifact?.name === undefined ? {} : { artifact: { name: artifact.name } };
  const spec = { ...bare, ...named, parameters: [] };
  const { status, ...rest } = workflow;
  if (status === undefined) return { ...rest, metadata, spec };
  const { results, conditions, ...kept } = status;
  const shown = ['digest', 'outcome', 'reason', 'bytes'];
  const outcome = results === undefined ? {} : { results: pick(results, shown) };
  return { ...rest, metadata, spec, status: { ...kept, ...outcome, ...shortened(conditions) } };
}

/** Drops reasons and messages, which no duty reads. The end of an Order is announced from its decisive conditions. */
function shortened(
  conditions: readonly Condition[] | undefined,
  decisive: readonly string[] = [],
): { conditions?: Condition[] } {
  if (conditions === undefined) return {};
  const needed = ['Reconciling', deliveredCondition, ...decisive];
  const kept = conditions.filter(({ type }) => needed.includes(type));
  const short = kept.map(({ type, status, lastTransitionTime }) => ({ type, status, lastTransitionTime }));
  return { conditions: short as Condition[] };
}

/** Drops the nodes of a Workflow, which may take a megabyte: they only show whether Kueue has admitted it, and how a stopped transfer had ended. */
function trimmedRun(workflow: Workflow): Pick<Workflow, 'spec' | 'status'> {
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

/** Kinds whose objects concern a single root if they carry the label of an Order, and may concern any root otherwise. */
const ofOrders: ReadonlySet<string> = new Set(['Workflow', 'CronWorkflow', 'Secret']);

/** True for an object whose duties, or whose root's, belong to other shards. */
export function isForeign(object: Observed, shard: Shard): boolean {
  const isRooted = ofOrders.has(object.kind)
    ? object.metadata.labels?.[labels.order] !== undefined
    : hasDuties(object);
  return isRooted && !isInShard(object, shard);
}

/**
 * Returns what a shard keeps of an object, undefined for nothing: its own roots with their objects, and what these refer to. That includes all
 * Endpoints, types and templates, and those ArtifactWorkflows of other shards that may block its own: unfinished, or being deleted.
 */
export function keptBy(shard: Shard, object: Observed): Observed | undefined {
  if (!isForeign(object, shard) || object.kind === 'Endpoint') return trimmed(object);
  if (object.kind !== 'ArtifactWorkflow') return undefined;
  return isFinished(object) && !isDeleting(object) ? undefined : trimmed(object);
}
