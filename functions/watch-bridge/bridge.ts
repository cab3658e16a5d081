import { steadyClock as clock, systemClock as timeOfDay } from '#shared/base/async';
import type { Logger, Metrics } from '#shared/base/telemetry';
import {
  artifactWorkflows,
  deliveredCondition,
  hasDuties,
  orders,
  type Shard,
  wholeShard,
} from '#shared/domain';
import type { Kind, KubeClient } from '#shared/kubernetes/client';
import { bridgeMetrics } from './bridge-metrics.ts';
import { Announcer } from './delivery/announcer.ts';
import { createDelivery } from './delivery/delivery.ts';
import { Sender } from './delivery/sender.ts';
import type { Sink } from './delivery/sink.ts';
import type { WithDuties } from './duties/agenda.ts';
import { Dispatcher } from './duties/dispatcher.ts';
import type { Change } from './duties/neighbours.ts';
import { isForeign } from './view/kept.ts';
import { startWatches } from './watches.ts';

export interface BridgeOptions {
  api: KubeClient;
  sink: Sink;
  log: Logger;
  metrics: Metrics;
  /** Ends the bridge. */
  signal: AbortSignal;
  /** Called just before each attempt is written; false while another process may be sending. Default: always true. */
  maySend?: () => boolean;
  /** Watch the metadata of all Secrets, so that a new credential takes effect at once. Default: false. */
  watchSecrets?: boolean;
  /** Watch CronWorkflows. Default: true. */
  watchSchedules?: boolean;
  /** The shard whose duties are sent. Default: all. */
  shard?: Shard;
}

export interface Bridge {
  /** Resolves when every kind has been listed and the duties of every object are known. */
  readonly synced: Promise<void>;
  /** True once `synced` has resolved. */
  readonly ready: boolean;
  /** Step events that are pending or in flight. */
  readonly depth: number;
  /** When the slowest watch last made progress, ms of `steadyClock`. */
  lastTurn(): number;
  /** Resolves after `signal` is aborted and the attempts in flight have ended; rejects on a programming error. */
  readonly done: Promise<void>;
}

/** True for a change by which report-dead-letter notes that events of the object were refused. What is listed at the start was counted before. */
function isNewDeadLetter(change: Change): change is Change & { after: WithDuties } {
  const { before, after } = change;
  if (before === undefined || after === undefined || !hasDuties(before) || !hasDuties(after)) return false;
  const noted = refusedSince(after);
  return noted !== undefined && noted !== refusedSince(before);
}

function refusedSince({ status }: WithDuties): string | undefined {
  return status?.conditions?.find(({ type }) => type === deliveredCondition)?.lastTransitionTime;
}

/** Starts to watch and to send. No guarantee depends on a clean end: the next start computes all duties anew. */
export function startBridge(options: BridgeOptions): Bridge {
  const { api, log, signal } = options;
  const { maySend = () => true, watchSecrets = false, watchSchedules = true, shard = wholeShard } = options;
  const metrics = bridgeMetrics(options.metrics, shard);
  const times = { clock, timeOfDay, random: Math.random };
  const sender = new Sender({
    ...times,
    sink: options.sink,
    log,
    signal,
    metrics,
    maySend,
    started: (key, event) => dispatcher.agenda.started(key, event),
    ended: (key) => dispatcher.agenda.ended(key),
  });
  const dispatcher = new Dispatcher({
    ...times,
    watchSecrets,
    watchSchedules,
    shard,
    outbox: sender,
    repaired: () => metrics.repaired(),
  });
  const announcer = new Announcer({
    ...times,
    view: dispatcher.view,
    shard,
    log,
    metrics,
    deliver: createDelivery(options.sink, signal, maySend),
    record: ({ kind, metadata }, announced) => {
      const { resourceVersion } = metadata;
      const patch = { metadata: { resourceVersion }, status: { announced } };
      const about = kind === 'Order' ? orders : artifactWorkflows;
      return api.mergePatch(about as Kind, metadata, patch, { subresource: 'status' }, signal);
    },
    isBusy: (uid) => dispatcher.agenda.isBusy(uid),
  });
  const synced = Promise.withResolvers<void>();
  const watches = startWatches({
    api,
    signal,
    log,
    watchSecrets,
    watchSchedules,
    keep: (object) => dispatcher.keep(object),
    onChange: (change) => {
      dispatcher.change(change);
      announcer.change(change);
      if (isNewDeadLetter(change) && !isForeign(change.after, shard)) metrics.deadLetter(change.kind);
    },
    onSynced: () => {
      announcer.synced();
      dispatcher.synced().then(synced.resolve, synced.reject);
    },
  });
  metrics.observe({
    ...watches,
    depth: () => sender.depth,
    due: () => dispatcher.agenda.due,
    unannounced: () => announcer.pending,
  });

  const end = async () => {
    try {
      await watches.done;
    } finally {
      dispatcher.close();
      await Promise.all([sender.close(), announcer.close()]);
      metrics.release();
    }
  };
  return {
    synced: synced.promise,
    get ready() {
      return dispatcher.ready;
    },
    get depth() {
      return sender.depth;
    },
    lastTurn: watches.lastTurn,
    done: end(),
  };
}
