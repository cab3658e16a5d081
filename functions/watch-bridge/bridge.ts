import { steadyClock as clock, systemClock as timeOfDay } from '#shared/async';
import { type Shard, wholeShard } from '#shared/domain';
import type { KubeClient } from '#shared/kube';
import type { Logger, Metrics } from '#shared/telemetry';
import { bridgeMetrics } from './bridge-metrics.ts';
import type { Sink } from './delivery/sink.ts';
import { WakeSender } from './delivery/wake-sender.ts';
import { ObjectTable } from './objects/object-table.ts';
import type { Intervals } from './schedule/timers.ts';
import { Waker } from './waker.ts';
import { startWatches } from './watches/watches.ts';

export interface BridgeOptions {
  api: KubeClient;
  sink: Sink;
  log: Logger;
  metrics: Metrics;
  /** Ends the bridge. */
  signal: AbortSignal;
  random?: () => number;
  intervals?: Partial<Intervals>;
  /** Asked just before each attempt is written; false while another process may be sending. Default: always true. */
  maySend?: () => boolean;
  /** Most delivery attempts under way at once; default 32. */
  parallel?: number;
  /** Watch the metadata of all Secrets, so that a new credential takes effect when it is written. Default: false. */
  watchSecrets?: boolean;
  /** Watch CronWorkflows. Default: true. */
  watchSchedules?: boolean;
  /** Which objects it wakes. Default: all. */
  shard?: Shard;
}

export interface Bridge {
  /** Resolves when every kind has been listed and every unsettled object has been woken. */
  readonly synced: Promise<void>;
  /** True from then on. */
  readonly ready: boolean;
  /** Wakes that are pending or under way. */
  readonly depth: number;
  /** When the slowest watch last made progress, ms of `steadyClock`. */
  lastTurn(): number;
  /** Resolves when `signal` is aborted and the attempts under way have ended; rejects on a programming error. */
  readonly done: Promise<void>;
}

/** Starts to watch and to send wakes. No guarantee depends on how it ends: the next start wakes every unsettled object. */
export function startBridge(options: BridgeOptions): Bridge {
  const { api, log, signal, random = Math.random, parallel = 32 } = options;
  const {
    maySend = () => true,
    watchSecrets = false,
    watchSchedules = true,
    intervals,
    shard = wholeShard,
  } = options;
  const metrics = bridgeMetrics(options.metrics, shard);
  const sender = new WakeSender({
    ...options,
    metrics,
    clock,
    timeOfDay,
    random,
    parallel,
    maySend,
    delivered: (uid) => waker.delivered(uid),
  });
  const objects = new ObjectTable();
  const waker = new Waker({
    objects,
    clock,
    timeOfDay,
    random,
    intervals,
    shard,
    send: (waking, observed, when) => sender.send(waking, observed, when),
    forget: (uid) => sender.forget(uid),
    foundWork: () => metrics.foundWork(),
  });
  const synced = Promise.withResolvers<void>();
  const onSynced = () => {
    waker.synced().then(synced.resolve, synced.reject);
  };

  const watches = startWatches({
    api,
    signal,
    random,
    log,
    watchSecrets,
    watchSchedules,
    shard,
    objects,
    onSynced,
    onChange: (change) => waker.change(change),
  });
  metrics.observe({ depth: () => sender.depth, unsettled: () => waker.unsettled, ...watches });

  const end = async () => {
    try {
      await watches.done;
    } finally {
      waker.close();
      await sender.close();
      metrics.release();
    }
  };
  return {
    synced: synced.promise,
    get ready() {
      return waker.ready;
    },
    get depth() {
      return sender.depth;
    },
    lastTurn: watches.lastTurn,
    done: end(),
  };
}
