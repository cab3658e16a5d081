import {
  type ArtifactWorkflow,
  artifactTypes,
  artifactWorkflows,
  type Condition,
  clusterArtifactTypes,
  clusterWorkflowTemplates,
  cronWorkflows,
  endpoints,
  group,
  isQueued,
  type Order,
  orders,
  type Shard,
  secrets,
  serviceAccounts,
  tenantAccount,
  type Change as WakeChange,
  type Workflow,
  workflows,
  workflowTemplates,
} from '#shared/domain';
import { ArcError } from '#shared/errors';
import { type Kind, type KubeClient, type ListWatch, listWatch } from '#shared/kube';
import type { KubeObject } from '#shared/meta';
import type { Logger } from '#shared/telemetry';
import type { ObjectTable } from '../objects/object-table.ts';
import { keptOf, withForeignApart } from './foreign.ts';

export interface WatchesOptions {
  api: KubeClient;
  signal: AbortSignal;
  random: () => number;
  log: Logger;
  /** Watch Secrets too. */
  watchSecrets: boolean;
  /** Watch CronWorkflows; without schedules there are none, and the right is missing. */
  watchSchedules: boolean;
  /** Of objects of others only what concerns this one is kept. */
  shard: Shard;
  /** Where the states of the objects are kept. */
  objects: ObjectTable;
  /** Called for each change of an object; both states are trimmed in the same way. */
  onChange(change: WakeChange): void;
  /** Called once, when every kind has been listed. */
  onSynced(): void;
}

interface Watched {
  kind: Kind;
  /** The bridge becomes ready although the kind cannot be watched: Argo may be installed later than ARC. */
  optional: boolean;
  /** The server sends the metadata of the objects only. */
  metadataOnly?: true;
  fieldSelector?: string;
}

const always: readonly Watched[] = [
  { kind: orders as Kind, optional: false },
  { kind: artifactWorkflows as Kind, optional: false },
  { kind: artifactTypes as Kind, optional: false },
  { kind: clusterArtifactTypes as Kind, optional: false },
  { kind: endpoints as Kind, optional: false },
  { kind: workflows as Kind, optional: true },
  { kind: workflowTemplates as Kind, optional: true },
  { kind: clusterWorkflowTemplates as Kind, optional: true },
];
/** A namespace may be given to ARC long after its first Order: nothing else shows that. */
const tenantWatch: Watched = {
  kind: serviceAccounts as Kind,
  optional: true,
  metadataOnly: true,
  fieldSelector: `metadata.name=${tenantAccount}`,
};
const scheduleWatch: Watched = { kind: cronWorkflows as Kind, optional: true };
/** The bridge learns that a Secret was written, but never its data. Without this watch the credentials of Endpoints are checked every minute. */
const secretWatch: Watched = { kind: secrets as Kind, optional: true, metadataOnly: true };

/** The bridge has work only once every kind is listed, so it asks often while the API is away: ten requests each time. */
const backoff = { baseMs: 200, maxMs: 5_000 };

export interface Watches {
  /** Ends when the signal is aborted; rejects if the program has a mistake. */
  done: Promise<void>;
  /** When the slowest watch last made progress, ms of `steadyClock`. */
  lastTurn(): number;
  gaps(): number;
  relists(): number;
}

/** Lists and watches every kind whose changes wake an object. */
export function startWatches(options: WatchesOptions): Watches {
  const { api, signal, random, log, objects, onChange, onSynced } = options;
  const { watchSecrets, watchSchedules, shard } = options;
  const watched = [
    ...always,
    tenantWatch,
    ...(watchSchedules ? [scheduleWatch] : []),
    ...(watchSecrets ? [secretWatch] : []),
  ];
  const unlisted = new Set(watched.map(({ kind }) => kind.kind));
  const markListed = (kind: string) => {
    if (unlisted.delete(kind) && unlisted.size === 0) onSynced();
  };
  const trimmedOnce = onceTrimmed();
  const loops = watched.map(
    ({ kind, optional, ...selection }): ListWatch<KubeObject> =>
      listWatch<KubeObject, KubeObject>(
        api,
        kind,
        {
          ...selection,
          states: withForeignApart(objects.ofKind(kind), shard),
          keep: (object) => keptOf(trimmedOnce(object), shard),
          onChange: ({ before, after }) =>
            onChange({ kind: kind.kind, before, after: after && trimmedOnce(after) }),
          onSync: () => markListed(kind.kind),
          onFailure: (error) => {
            if (optional && (isNotServed(error) || error.code === 'Forbidden')) markListed(kind.kind);
            log.warn({ kind: kind.kind, err: error }, failureMessage(kind, error));
          },
        },
        { signal, random, backoff },
      ),
  );
  const sum = (read: (loop: ListWatch<KubeObject>) => number) =>
    loops.reduce((total, loop) => total + read(loop), 0);
  return {
    done: Promise.all(loops.map((loop) => loop.done)).then(() => undefined),
    lastTurn: () => Math.min(...loops.map((loop) => loop.lastTurn)),
    gaps: () => sum(({ counters }) => counters.gaps),
    relists: () => sum(({ counters }) => counters.relists),
  };
}

/** The same part for the same object that came last: it is kept, and then told. */
function onceTrimmed(): (object: KubeObject) => KubeObject {
  let last: { whole: KubeObject; part: KubeObject } | undefined;
  return (whole) => {
    if (last?.whole !== whole) last = { whole, part: trimmed(whole) };
    return last.part;
  };
}

/** A kind that is not installed is answered with a 404 that names no object. */
function isNotServed(error: ArcError): boolean {
  return error.code === 'NotFound' && error.details?.name === undefined;
}

/** What the log says about a failed list or watch. */
export function failureMessage(
  { kind, apiVersion }: Pick<Kind, 'kind' | 'apiVersion'>,
  error: ArcError,
): string {
  if (isNotServed(error))
    return `the cluster does not serve ${kind} of ${apiVersion} (not installed?); retrying`;
  if (ArcError.is(error, 'ServiceUnavailable', 'Timeout'))
    return `cannot watch ${kind}: the API server cannot be reached; retrying`;
  return `cannot watch ${kind}; retrying`;
}

/** The fields of a Workflow's status that wakes depend on. Its nodes, which may take a megabyte, are dropped. */
const workflowStatus = ['phase', 'message', 'progress', 'startedAt', 'finishedAt'];
const cronStatus = ['active', 'lastScheduledTime', 'succeeded', 'failed', 'conditions'];
/** Large fields of the spec on which no wake depends. */
const dropped: Record<string, ReadonlySet<string>> = {
  ArtifactWorkflow: new Set(['parameters', 'artifact']),
};

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/** An object without the fields on which no wake depends: the bridge keeps it for as long as the object exists. */
export function trimmed(object: KubeObject): KubeObject {
  const metadata = trimmedMetadata(object);
  if (object.kind === 'Secret') return { apiVersion: object.apiVersion, kind: object.kind, metadata };
  if (object.kind === 'Workflow' || object.kind === 'CronWorkflow') {
    // Only the nodes show that Kueue has admitted the Workflow.
    const queued = isQueued(object as unknown as Workflow) ? { queued: true } : {};
    const shown = object.kind === 'Workflow' ? workflowStatus : cronStatus;
    const status = { ...pick(object.status, shown), ...queued };
    const spec = pick(object.spec, ['suspend', 'shutdown', 'schedules']);
    return { apiVersion: object.apiVersion, kind: object.kind, metadata, spec, status };
  }
  // Wakes depend on the existence of a template only.
  if (object.kind === 'WorkflowTemplate' || object.kind === 'ClusterWorkflowTemplate')
    return { apiVersion: object.apiVersion, kind: object.kind, metadata };
  if (object.kind === 'Order') return trimmedOrder(object as unknown as Order, metadata);
  const status = object.kind === 'ArtifactWorkflow' ? { status: trimmedStatus(object.status) } : {};
  const drop = dropped[object.kind];
  if (drop === undefined || typeof object.spec !== 'object' || object.spec === null)
    return { ...object, metadata, ...status };
  const spec = Object.fromEntries(Object.entries(object.spec).filter(([name]) => !drop.has(name)));
  return { ...object, metadata, spec, ...status };
}

/** An Order without what its artifacts are, a change of which raises `metadata.generation`, and without the bytes that arrived. */
function trimmedOrder(order: Order, metadata: KubeObject['metadata']): KubeObject {
  const { artifacts } = order.spec;
  const named = artifacts && { artifacts: artifacts.map(({ spec: _spec, ...artifact }) => artifact) };
  const trimmed = { ...order, metadata, spec: { ...order.spec, ...named } };
  if (order.status === undefined) return trimmed as unknown as KubeObject;
  const { artifactWorkflows, ...rest } = order.status;
  const entries = Object.entries(artifactWorkflows ?? {}).map(([key, { digest: _digest, ...entry }]) => [
    key,
    entry,
  ]);
  const shown = artifactWorkflows && { artifactWorkflows: Object.fromEntries(entries) };
  return { ...trimmed, status: { ...withShortConditions(rest), ...shown } } as unknown as KubeObject;
}

/**
 * The status of an ArtifactWorkflow with that of its results which its Order shows or a retry depends on. Of a digest only matters whether it
 * has changed: 64 bits of it tell.
 */
function trimmedStatus(status: unknown): unknown {
  if (typeof status !== 'object' || status === null) return status;
  const { results, ...rest } = withShortConditions(status as NonNullable<ArtifactWorkflow['status']>);
  if (results === undefined) return rest;
  const { digest } = results;
  const beginning = digest?.startsWith('sha256:') === true ? { digest: digest.slice(0, 23) } : {};
  return { ...rest, results: { ...pick(results, ['digest', 'outcome', 'reason']), ...beginning } };
}

/** Of a condition its type and status. Of a run also when it began: the pace of an Order depends on it. */
function withShortConditions<S extends { conditions?: Condition[] | undefined }>(status: S): S {
  if (status.conditions === undefined) return status;
  const conditions = status.conditions.map(({ type, status: is, lastTransitionTime }) =>
    type === 'Reconciling' && is === 'True' ? { type, status: is, lastTransitionTime } : { type, status: is },
  );
  return { ...status, conditions } as S;
}

/**
 * Metadata with ARC's own annotations alone: those of others are no concern of a function, and kubectl's holds the whole object again, the data
 * of a Secret too. An Endpoint keeps all: whoever rotates a Secret may note that in any of them.
 */
function trimmedMetadata({ kind, metadata }: KubeObject): KubeObject['metadata'] {
  const { managedFields: _managed, annotations, ...rest } = metadata;
  if (annotations === undefined) return rest;
  const kept = Object.entries(annotations).filter(
    ([name]) => name !== lastApplied && (kind === 'Endpoint' || name.startsWith(`${group}/`)),
  );
  return kept.length === 0 ? rest : { ...rest, annotations: Object.fromEntries(kept) };
}

function pick(value: unknown, names: readonly string[]): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(Object.entries(value).filter(([name]) => names.includes(name)));
}
