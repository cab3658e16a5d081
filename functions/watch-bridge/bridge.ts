import { type Clock, systemClock } from '#shared/async';
import { type Change, isWokenKind, wakesFor, wakingOf } from '#shared/domain';
import type { KubeClient } from '#shared/kube';
import type { KubeObject } from '#shared/meta';
import type { Logger, Metrics } from '#shared/telemetry';
import { bridgeMetrics } from './bridge-metrics.ts';
import type { Sink } from './delivery/sink.ts';
import { WakeSender } from './delivery/wake-sender.ts';
import { RollUpPace, runOf } from './schedule/roll-up-pace.ts';
import { defaultIntervals, type Intervals, Timers } from './schedule/timers.ts';
import { References } from './watches/references.ts';
import { startWatches } from './watches/watches.ts';

export interface BridgeOptions {
  api: KubeClient;
  sink: Sink;
  log: Logger;
  metrics: Metrics;
  /** Ends the bridge. */
  signal: AbortSignal;
  clock?: Clock;
  random?: () => number;
  intervals?: Partial<Intervals>;
  /** Called before each delivery attempt; false while another process may be sending. Default: always true. */
  maySend?: () => boolean;
  /** Most delivery attempts under way at once; default 32. */
  parallel?: number;
  /** Watch the metadata of all Secrets, so that a new credential takes effect when it is written. Default: false. */
  watchSecrets?: boolean;
}

export interface Bridge {
  /** Resolves when every kind has been listed and every unsettled object has been woken. */
  readonly synced: Promise<void>;
  /** True from then on. */
  readonly ready: boolean;
  /** Wakes that are pending or under way. */
  readonly depth: number;
  /** When the slowest watch last made progress, ms since the epoch. */
  lastTurn(): number;
  /** Resolves when `signal` is aborted and the attempts under way have ended; rejects on a programming error. */
  readonly done: Promise<void>;
}

/** Starts to watch and to send wakes. No guarantee depends on how it ends: the next start wakes every unsettled object. */
export function startBridge(options: BridgeOptions): Bridge {
  const { api, log, signal, clock = systemClock, random = Math.random, parallel = 32 } = options;
  const { maySend = () => true, watchSecrets = false } = options;
  const intervals = { ...defaultIntervals, ...options.intervals };
  const metrics = bridgeMetrics(options.metrics);
  const references = new References();
  const pace = new RollUpPace();
  const sender = new WakeSender({ ...options, metrics, clock, random, parallel, maySend });
  const timers = new Timers({
    clock,
    random,
    intervals,
    references,
    wake: (object, reason, epoch) => sender.send(wakingOf(object, reason), object, { epoch }),
  });
  const synced = Promise.withResolvers<void>();
  let ready = false;
  /** Objects seen before every kind was listed. Whether they are settled depends on all of them. */
  const seenBeforeSync = new Map<string, KubeObject>();
  /** What changed meanwhile, after it was first seen: the sum of the changes of each object. */
  const changedBeforeSync = new Map<string, Change>();

  const update = (object: KubeObject) => {
    references.put(object);
    if (isWokenKind(object.kind) && timers.update(object)) metrics.foundWork();
  };

  const forget = (object: KubeObject) => {
    const { uid = '' } = object.metadata;
    references.remove(object);
    timers.forget(uid);
    pace.forget(uid);
    sender.forget(uid);
  };

  const wake = (change: Change, observed: KubeObject) => {
    for (const waking of wakesFor(change, references)) {
      const { uid } = waking.target;
      timers.woken(uid);
      // The broker may take this wake and lose it.
      if (waking.target.kind === 'Order') timers.doubt(uid);
      if (waking.reason !== 'children') sender.send(waking, observed);
      else {
        const now = clock.now();
        const run = runOf(references.order(uid), references.hasUnfinishedChild(uid), now);
        sender.send(waking, observed, { at: pace.timeFor(uid, run, now) });
      }
    }
  };

  const onChange = (change: Change) => {
    const { before, after } = change;
    const observed = after ?? before;
    if (observed === undefined) return;
    const { uid = '' } = observed.metadata;
    if (after !== undefined) update(after);
    if (ready) wake(change, observed);
    else {
      if (after === undefined) seenBeforeSync.delete(uid);
      else if (isWokenKind(after.kind)) seenBeforeSync.set(uid, after);
      if (before !== undefined)
        changedBeforeSync.set(uid, { ...change, before: changedBeforeSync.get(uid)?.before ?? before });
    }
    if (after === undefined) forget(observed);
  };

  const onSynced = () => {
    ready = true;
    const epoch = `start-${clock.now()}`;
    for (const object of seenBeforeSync.values()) {
      // Until now it was unknown what the object refers to, whatever the order of the lists.
      timers.update(object);
      if (timers.isUnsettled(object)) sender.send(wakingOf(object, 'resync'), object, { epoch });
    }
    seenBeforeSync.clear();
    for (const change of changedBeforeSync.values()) {
      const observed = change.after ?? change.before;
      if (observed !== undefined) wake(change, observed);
    }
    changedBeforeSync.clear();
    timers.sweepSoon();
    synced.resolve();
  };

  const watches = startWatches({ api, signal, random, log, watchSecrets, onChange, onSynced });
  metrics.observe({ depth: () => sender.depth, unsettled: () => timers.unsettled, ...watches });

  const end = async () => {
    try {
      await watches.done;
    } finally {
      timers.close();
      await sender.close();
      metrics.release();
    }
  };
  return {
    synced: synced.promise,
    get ready() {
      return ready;
    },
    get depth() {
      return sender.depth;
    },
    lastTurn: watches.lastTurn,
    done: end(),
  };
}
