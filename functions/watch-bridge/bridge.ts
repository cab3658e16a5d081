import { type Clock, systemClock } from '#shared/async';
import {
  type AnyObject,
  type ArtifactWorkflow,
  artifactWorkflowDue,
  type Endpoint,
  isFinished,
  isSettled,
  isWokenKind,
  type Order,
  orderDue,
  type TimeReason,
  type WakeObject,
  type Waking,
  wakeReasonNames,
  wakesFor,
  wakingOf,
} from '#shared/domain';
import { ArcError } from '#shared/errors';
import type { KubeClient } from '#shared/kube';
import { ownerOfKind } from '#shared/meta';
import type { Logger, Metrics } from '#shared/telemetry';
import { bridgeMetrics } from './bridge-metrics.ts';
import { createDelivery } from './delivery/delivery.ts';
import { messageOf, type PendingWake } from './delivery/message.ts';
import { type Outcome, WakeQueue } from './delivery/queue.ts';
import type { Sink } from './delivery/sink.ts';
import { DueTimes } from './schedule/due.ts';
import { Resync } from './schedule/resync.ts';
import { RollUpPace } from './schedule/roll-up-pace.ts';
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
  /** Asked before each delivery; false when somebody else may be sending by now. Default: always true. */
  maySend?: () => boolean;
  /** Deliveries under way at once; default 32. */
  parallel?: number;
  /** Watch the metadata of all Secrets, so that a new credential is looked at when it is written. Default: false. */
  watchSecrets?: boolean;
}

/** All in ms. */
export interface Intervals {
  /** Between announcements of an object that is not settled; default one minute. */
  unsettled: number;
  /** Between announcements of one that is; default one hour. */
  settled: number;
  /** Between looks at the Secret of an Endpoint; default one minute. */
  credentials: number;
  /** After which a due time that nobody acted on fires again; default one minute. */
  due: number;
}

export interface Bridge {
  /** Resolves when every kind has been listed and what is unsettled has been announced. */
  readonly synced: Promise<void>;
  /** True from then on. */
  readonly ready: boolean;
  /** Wakes waiting or under way. */
  readonly depth: number;
  /** When the watch furthest behind last got on (heard its server, or noticed that it could not), ms since the epoch. */
  lastTurn(): number;
  /** Ends when `signal` is aborted and what was under way has ended; rejects if the program has a mistake. */
  readonly done: Promise<void>;
}

const minute = 60_000;
const defaults: Intervals = { unsettled: minute, settled: 60 * minute, credentials: minute, due: minute };
const nothing = { depth: () => 0, unsettled: () => 0, gaps: () => 0, relists: () => 0 };

/** Starts watching and sending. Nothing depends on how it ends: the next start announces what is unsettled. */
export function startBridge(options: BridgeOptions): Bridge {
  const { api, sink, log, signal, clock = systemClock, random = Math.random, parallel = 32 } = options;
  const { maySend = () => true, watchSecrets = false } = options;
  const intervals = { ...defaults, ...options.intervals };
  const references = new References();
  const pace = new RollUpPace();
  const deliver = createDelivery(sink, signal);
  const metrics = bridgeMetrics(options.metrics);

  const queue = new WakeQueue<PendingWake>({
    clock,
    random,
    parallel,
    send: async (wake) =>
      maySend() ? sendSafely(wake, deliver) : { result: 'transient', reason: 'the Lease is not held' },
    settled: (wake, outcome, lagMs) => {
      metrics.delivered(outcome.result, lagMs);
      if (outcome.result === 'refused')
        log.error({ wake: wake.target, reason: wake.reason }, `a wake was refused: ${outcome.reason}`);
    },
    retrying: (wake, reason, attempt) => {
      metrics.retried();
      if (attempt === 1 || attempt % 10 === 0)
        log.warn({ wake: wake.target, attempt }, `a wake will be sent again: ${reason}`);
    },
  });

  const offer = (waking: Waking, about: WakeObject, epoch?: string, at?: number) => {
    const wake = { ...waking, watched: watchedOf(about), time: clock.now() };
    if (waking.reason !== 'resync') resync.woken(waking.target.uid);
    queue.offer(keyOf(waking), epoch === undefined ? wake : { ...wake, epoch }, at);
  };
  const repeat = (reason: TimeReason) => (object: AnyObject, epoch: string) =>
    offer(wakingOf(object, reason), object, epoch);

  const resync = new Resync<AnyObject>({
    clock,
    random,
    unsettledMs: intervals.unsettled,
    settledMs: intervals.settled,
    isUnsettled: (object) => isUnsettled(object, references),
    announce: repeat('resync'),
  });
  // Secrets may not be watched: an Endpoint that has one is never quite settled.
  const looks = new Resync<AnyObject>({
    clock,
    random,
    unsettledMs: intervals.credentials,
    settledMs: intervals.credentials,
    isUnsettled: () => true,
    announce: repeat('due'),
  });
  const due = new DueTimes<AnyObject>({
    clock,
    random,
    repeatMs: intervals.due,
    dueAt: (object) => dueAt(object, references),
    fire: repeat('due'),
  });

  const note = (object: AnyObject) => {
    const { uid = '' } = object.metadata;
    references.put(object);
    if (!isWokenKind(object.kind)) return;
    if (resync.note(uid, object)) metrics.foundWork();
    due.note(uid, object);
    if (object.kind === 'Order') for (const child of references.childrenOf(uid)) noteDue(child);
    if (object.kind !== 'Endpoint') return;
    if ((object as unknown as Endpoint).spec.secretRef === undefined) looks.forget(uid);
    else looks.note(uid, object);
  };
  const noteDue = (workflow: ArtifactWorkflow) => {
    // What an expiry waits for is in the Order's status.
    if (isFinished(workflow)) due.note(workflow.metadata.uid ?? '', workflow as unknown as AnyObject);
  };
  const forget = (object: AnyObject) => {
    const { uid = '' } = object.metadata;
    references.remove(object);
    for (const part of [resync, looks, due, pace]) part.forget(uid);
    for (const reason of wakeReasonNames) queue.forget(`${uid}/${reason}`);
  };

  const timeFor = (waking: Waking): number | undefined => {
    if (waking.reason !== 'children') return undefined;
    const { uid } = waking.target;
    const order = references.order(uid);
    const now = clock.now();
    const born = Date.parse(order?.status?.startTime ?? order?.metadata.creationTimestamp ?? '');
    const run = {
      artifacts: order?.spec.artifacts?.length ?? 1,
      since: Number.isNaN(born) ? now : born,
      unfinished: references.hasUnfinishedChild(uid),
    };
    return pace.timeFor(uid, run, now);
  };

  const state = { ready: false };
  const synced = Promise.withResolvers<void>();
  const announceUnsettled = () => {
    state.ready = true;
    const epoch = `start-${clock.now()}`;
    for (const object of unsettledAtStart.values())
      if (isUnsettled(object, references)) offer(wakingOf(object, 'resync'), object, epoch);
    unsettledAtStart.clear();
    synced.resolve();
  };
  /** Seen before every kind was listed: judged when all references are known. */
  const unsettledAtStart = new Map<string, AnyObject>();

  const watches = startWatches({
    api,
    signal,
    random,
    log,
    watchSecrets,
    onChange: (change) => {
      const { before, after } = change;
      if (after !== undefined) note(after);
      const about = after ?? before;
      if (about === undefined) return;
      if (!state.ready) {
        const { uid = '' } = about.metadata;
        if (after === undefined) unsettledAtStart.delete(uid);
        else if (isWokenKind(after.kind)) unsettledAtStart.set(uid, after);
      } else
        for (const waking of wakesFor(change, references)) offer(waking, about, undefined, timeFor(waking));
      if (after === undefined) forget(about);
    },
    onSynced: announceUnsettled,
  });
  metrics.observe({ depth: () => queue.depth, unsettled: () => resync.unsettled, ...watches });

  const end = async () => {
    try {
      await watches.done;
    } finally {
      for (const part of [resync, looks, due]) part.close();
      await queue.close();
      metrics.observe(nothing); // or the registry would keep everything that was watched
    }
  };
  return {
    synced: synced.promise,
    get ready() {
      return state.ready;
    },
    get depth() {
      return queue.depth;
    },
    lastTurn: watches.lastTurn,
    done: end(),
  };
}

async function sendSafely(wake: PendingWake, deliver: ReturnType<typeof createDelivery>): Promise<Outcome> {
  try {
    return await deliver(messageOf(wake));
  } catch (caught) {
    // An attribute that cannot be one: no resend will change that.
    return { result: 'refused', reason: ArcError.from(caught).message };
  }
}

function keyOf({ target, reason }: Waking): string {
  return `${target.uid}/${reason}`;
}

function watchedOf({ apiVersion, kind, metadata }: WakeObject): PendingWake['watched'] {
  const { name, namespace, uid = '', resourceVersion = '' } = metadata;
  return { apiVersion, kind, name, uid, resourceVersion, ...(namespace === undefined ? {} : { namespace }) };
}

function isUnsettled(object: AnyObject, references: References): boolean {
  const known = object as unknown as Order | ArtifactWorkflow | Endpoint;
  if (!isSettled(known)) return true;
  if (object.kind === 'Order') return references.hasStaleInputs(known as Order);
  // Credentials of a transfer that has ended are still lying around.
  return object.kind === 'ArtifactWorkflow' && (known as ArtifactWorkflow).status?.configSecret !== undefined;
}

function dueAt(object: AnyObject, references: References): number | undefined {
  if (object.kind === 'Order') return orderDue(object as unknown as Order)?.getTime();
  if (object.kind !== 'ArtifactWorkflow') return undefined;
  const order = ownerOfKind(object, 'Order');
  const known = order === undefined ? undefined : references.order(order.uid);
  return artifactWorkflowDue(object as unknown as ArtifactWorkflow, known)?.getTime();
}
