import { ArcError } from '#shared/base/errors';
import type { Logger } from '#shared/base/telemetry';
import {
  artifactTypes,
  artifactWorkflows,
  clusterArtifactTypes,
  clusterWorkflowTemplates,
  conduitNamespace,
  configMaps,
  cronWorkflows,
  endpoints,
  orders,
  secrets,
  serviceAccounts,
  settingsName,
  tenantAccount,
  workflows,
  workflowTemplates,
} from '#shared/domain';
import { type Kind, type KubeClient, type ListWatch, listWatch } from '#shared/kubernetes/client';
import { type Change, changeOf } from './duties/neighbours.ts';
import type { Observed } from './view/kept.ts';

export interface WatchesOptions {
  api: KubeClient;
  signal: AbortSignal;
  log: Logger;
  /** Watch Secrets as well. */
  watchSecrets: boolean;
  /** Watch CronWorkflows; without schedules there are none, and the right is missing. */
  watchSchedules: boolean;
  /** Returns the part of an object to keep; undefined for an object of no concern. */
  keep(object: Observed): Observed | undefined;
  /** Called for each change of an object, with the kept parts of both states. */
  onChange(change: Change): void;
  /** Called once, when every kind has been listed. */
  onSynced(): void;
}

interface Watched {
  kind: Kind<Observed>;
  /** The bridge becomes ready even if the kind cannot be watched: Argo may be installed later than ARC. */
  optional: boolean;
  /** The server sends the metadata of the objects only. */
  metadataOnly?: true;
  namespace?: string;
  fieldSelector?: string;
}

const always: readonly Watched[] = [
  { kind: orders, optional: false },
  { kind: artifactWorkflows, optional: false },
  { kind: artifactTypes, optional: false },
  { kind: clusterArtifactTypes, optional: false },
  { kind: endpoints, optional: false },
  { kind: workflows, optional: true },
  { kind: workflowTemplates, optional: true },
  { kind: clusterWorkflowTemplates, optional: true },
];
/** A namespace may be given to ARC long after its first Order, and only this account shows it. */
const tenantWatch: Watched = {
  kind: serviceAccounts,
  optional: true,
  metadataOnly: true,
  fieldSelector: `metadata.name=${tenantAccount}`,
};
/** An input of every plan, and of every TTL. */
const settingsWatch: Watched = {
  kind: configMaps,
  optional: true,
  namespace: conduitNamespace,
  fieldSelector: `metadata.name=${settingsName}`,
};
const scheduleWatch: Watched = { kind: cronWorkflows, optional: true };
/** Tells that a Secret was written, but never its data. Without this watch the credentials of Endpoints are read every minute. */
const secretWatch: Watched = { kind: secrets, optional: true, metadataOnly: true };

/** Duties are known only once every kind is listed, so lists are retried often while the API is away: ten requests each time. */
const backoff = { baseMs: 200, maxMs: 5_000 };

export interface Watches {
  /** Ends when the signal is aborted; rejects if the program has a mistake. */
  done: Promise<void>;
  /** When the slowest watch last made progress, ms of `steadyClock`. */
  lastTurn(): number;
  gaps(): number;
  relists(): number;
}

/** Lists and watches every kind that the duties of an object depend on. */
export function startWatches(options: WatchesOptions): Watches {
  const { api, signal, log, keep, onChange, onSynced, watchSecrets, watchSchedules } = options;
  const watched = [
    ...always,
    tenantWatch,
    settingsWatch,
    ...(watchSchedules ? [scheduleWatch] : []),
    ...(watchSecrets ? [secretWatch] : []),
  ];
  const unlisted = new Set(watched.map(({ kind }) => kind.kind));
  const markListed = (kind: string) => {
    if (unlisted.delete(kind) && unlisted.size === 0) onSynced();
  };
  const kept = onceKept(keep);
  const loops = watched.map(
    ({ kind, optional, ...selection }): ListWatch<Observed> =>
      listWatch<Observed>(
        api,
        kind,
        {
          ...selection,
          keep: kept,
          onChange: ({ before, after }) => {
            const change = changeOf(before, after && kept(after));
            if (change !== undefined) onChange(change);
          },
          onSync: () => markListed(kind.kind),
          onFailure: (error) => {
            if (optional && (isNotServed(error) || error.code === 'Forbidden')) markListed(kind.kind);
            log.warn({ kind: kind.kind, err: error }, failureMessage(kind, error));
          },
        },
        { signal, backoff },
      ),
  );
  const sum = (read: (loop: ListWatch<Observed>) => number) =>
    loops.reduce((total, loop) => total + read(loop), 0);
  return {
    done: Promise.all(loops.map((loop) => loop.done)).then(() => undefined),
    lastTurn: () => Math.min(...loops.map((loop) => loop.lastTurn)),
    gaps: () => sum(({ counters }) => counters.gaps),
    relists: () => sum(({ counters }) => counters.relists),
  };
}

/** Keeps the first returned part per state: `keep` is called before `onChange`, with the same object. */
function onceKept(
  keep: (object: Observed) => Observed | undefined,
): (object: Observed) => Observed | undefined {
  let last: { whole: Observed; part: Observed | undefined } | undefined;
  return (whole) => {
    if (last?.whole !== whole) last = { whole, part: keep(whole) };
    return last.part;
  };
}

/** The 404 for a kind that is not installed names no object. */
function isNotServed(error: ArcError): boolean {
  return error.code === 'NotFound' && error.details?.name === undefined;
}

/** Returns the log message for a failed list or watch. */
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
