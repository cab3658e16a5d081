import {
  type AnyObject,
  artifactTypes,
  artifactWorkflows,
  clusterArtifactTypes,
  clusterWorkflowTemplates,
  cronWorkflows,
  endpoints,
  isQueued,
  orders,
  secrets,
  type Change as WakeChange,
  type Workflow,
  workflows,
  workflowTemplates,
} from '#shared/domain';
import { ArcError } from '#shared/errors';
import { type Kind, type KubeClient, type ListWatch, listWatch, type Resource } from '#shared/kube';
import type { Logger } from '#shared/telemetry';

export interface WatchesOptions {
  api: KubeClient;
  signal: AbortSignal;
  random: () => number;
  log: Logger;
  /** Watch Secrets too. */
  watchSecrets: boolean;
  /** One change of one object, both halves trimmed alike. */
  onChange(change: WakeChange): void;
  /** Every kind has been listed once; told once. */
  onSynced(): void;
}

interface Watched {
  kind: Kind;
  /** Nothing is held up while it cannot be watched: Argo may be installed later than we are. */
  optional: boolean;
  /** Only this of the objects is sent to us. */
  metadataOnly?: true;
}

const always: readonly Watched[] = [
  { kind: orders as Kind, optional: false },
  { kind: artifactWorkflows as Kind, optional: false },
  { kind: artifactTypes as Kind, optional: false },
  { kind: clusterArtifactTypes as Kind, optional: false },
  { kind: endpoints as Kind, optional: false },
  { kind: workflows as Kind, optional: true },
  { kind: cronWorkflows as Kind, optional: true },
  { kind: workflowTemplates as Kind, optional: true },
  { kind: clusterWorkflowTemplates as Kind, optional: true },
];
/** That a Secret was written is all there is to know: the data stays away from us. Endpoints are looked at every minute anyway. */
const secretWatch: Watched = { kind: secrets as Kind, optional: true, metadataOnly: true };

export interface Watches {
  /** Ends when the signal is aborted; rejects if the program has a mistake. */
  done: Promise<void>;
  /** When the watch that is furthest behind last got on, ms since the epoch. */
  lastTurn(): number;
  gaps(): number;
  relists(): number;
}

/** Lists and watches everything that can wake something. */
export function startWatches(options: WatchesOptions): Watches {
  const { api, signal, random, log, onChange, onSynced } = options;
  const watched = options.watchSecrets ? [...always, secretWatch] : always;
  const missing = new Set(watched.map(({ kind }) => kind.kind));
  const settle = (kind: string) => {
    if (missing.delete(kind) && missing.size === 0) onSynced();
  };
  const loops = watched.map(
    ({ kind, optional, ...selection }): ListWatch<AnyObject> =>
      listWatch<Resource, AnyObject>(
        api,
        kind,
        {
          ...selection,
          keep: trimmed,
          onChange: ({ before, after }) =>
            onChange({ kind: kind.kind, before, after: after && trimmed(after) }),
          onSync: () => settle(kind.kind),
          onFailure: (error) => {
            if (optional && ArcError.is(error, 'NotFound', 'Forbidden')) settle(kind.kind);
            log.warn({ kind: kind.kind, err: error }, whyWaiting(kind, error));
          },
        },
        { signal, random },
      ),
  );
  const sum = (read: (loop: ListWatch<AnyObject>) => number) =>
    loops.reduce((total, loop) => total + read(loop), 0);
  return {
    done: Promise.all(loops.map((loop) => loop.done)).then(() => undefined),
    lastTurn: () => Math.min(...loops.map((loop) => loop.lastTurn)),
    gaps: () => sum(({ counters }) => counters.gaps),
    relists: () => sum(({ counters }) => counters.relists),
  };
}

/** An installation that is not complete yet says so by a 404 that names no object; everything else is in the error. */
function whyWaiting({ kind, apiVersion }: Kind, error: ArcError): string {
  return error.code === 'NotFound'
    ? `the cluster does not serve ${kind} of ${apiVersion} (not installed?); it will be looked for again`
    : `watching ${kind} failed and will be tried again`;
}

/** Read from a Workflow: whether it goes on and how it ends. Its nodes may be a megabyte. */
const workflowStatus = ['phase', 'message', 'progress', 'startedAt', 'finishedAt'];
const cronStatus = ['active', 'lastScheduledTime', 'succeeded', 'failed'];
/** Large, and either never change or wake nobody. */
const dropped: Record<string, ReadonlySet<string>> = {
  ArtifactWorkflow: new Set(['parameters', 'artifact']),
};

/** An object without what no wake depends on: it is remembered for as long as the object lives. */
export function trimmed(object: Resource): AnyObject {
  const { managedFields: _managed, ...metadata } = object.metadata;
  if (object.kind === 'Secret') {
    // kubectl keeps in an annotation what was applied, data included.
    const { annotations: _annotations, ...rest } = metadata;
    return { apiVersion: object.apiVersion, kind: object.kind, metadata: rest };
  }
  if (object.kind === 'Workflow' || object.kind === 'CronWorkflow') {
    // Its nodes alone say that it is let out of a queue.
    const queued = isQueued(object as unknown as Workflow) ? { queued: true } : {};
    const status = { ...pick(object.status, [...workflowStatus, ...cronStatus]), ...queued };
    const spec = pick(object.spec, ['suspend', 'shutdown', 'schedules']);
    return { apiVersion: object.apiVersion, kind: object.kind, metadata, spec, status };
  }
  // Only that it is there.
  if (object.kind === 'WorkflowTemplate' || object.kind === 'ClusterWorkflowTemplate')
    return { apiVersion: object.apiVersion, kind: object.kind, metadata };
  const drop = dropped[object.kind];
  if (drop === undefined || typeof object.spec !== 'object' || object.spec === null)
    return { ...object, metadata };
  const spec = Object.fromEntries(Object.entries(object.spec).filter(([name]) => !drop.has(name)));
  return { ...object, metadata, spec };
}

function pick(value: unknown, names: readonly string[]): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(Object.entries(value).filter(([name]) => names.includes(name)));
}
