import { type Clock, createSemaphore, DelayQueue, yieldToEventLoop } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import type { Logger } from '#shared/base/telemetry';
import { announcements, toBinaryRequest } from '#shared/conduit/events';
import {
  type Announced,
  hasEnded,
  isAnnounced,
  isFinalPhase,
  isOn,
  keyOf,
  type Order,
  rootUid,
  type Shard,
} from '#shared/domain';
import type { Change } from '../duties/neighbours.ts';
import { isForeign, type Observed } from '../view/kept.ts';
import type { ObservedView } from '../view/observed-view.ts';
import type { HttpMessage } from './delivery.ts';
import { EventQueue, type Outcome } from './queue.ts';

export interface AnnouncerOptions {
  view: ObservedView;
  shard: Shard;
  /** For waits. */
  clock: Clock;
  /** For the times in events. */
  timeOfDay: Pick<Clock, 'now'>;
  random: () => number;
  log: Logger;
  metrics: { announced(outcome: string): void };
  /** Makes one attempt to deliver an event. Never rejects. */
  deliver(message: HttpMessage): Promise<Outcome>;
  /** Writes `status.announced` of an object, guarded by its resourceVersion. */
  record(object: Announced, announced: string): Promise<unknown>;
  /** True while a function is about to write the status of the object with this uid. */
  isBusy(uid: string): boolean;
}

/** A milestone to announce, with the object whose status showed it. */
interface Pending {
  object: Announced;
  /** The milestone that was announced before it. */
  since: string;
  announced: string;
}

/** What is known of an object beyond its status. */
interface Noted {
  object: Announced;
  /** The last milestone taken, delivered or not. */
  taken: string;
  /** The last milestone delivered. */
  delivered?: string;
  /** Until when the record yields to writes of functions; ms of the clock. */
  yieldUntil?: number;
}

/** Orders whose events are delivered concurrently: a slow subscriber may hold up each of them. */
const parallel = 8;
/** Objects processed before yielding to the event loop. */
const takenAtOnce = 50;
/** Milestones pending at once; beyond this, only the statuses know of them. */
const mostPending = 50_000;
/** Delay of the record, after the last event of an ended object and of a live one: most live objects end meanwhile, and one write serves both; ms. */
const recordAfter = { ended: 2_000, others: 30_000 };
/** Longest time that the record yields to functions that write to the same status, ms. */
const longestYield = 5_000;

/**
 * Sends domain events: a milestone that an object's status shows and `status.announced` does not record is announced, then recorded. So
 * whatever a status still shows is sent at least once, whichever process was killed when. The events of one Order and of its artifacts are
 * sent in sequence, the end of the Order last.
 */
export class Announcer {
  readonly #options: AnnouncerOptions;
  /** By uid; an object is removed once its status shows what is noted here. */
  readonly #noted = new Map<string, Noted>();
  /** By the uid of the root, never empty. */
  readonly #lanes = new Map<string, Pending[]>();
  readonly #queue: EventQueue<string>;
  readonly #records: DelayQueue<undefined>;
  readonly #recording = createSemaphore(parallel);
  #pending = 0;
  /** Ends of Orders held until the end of their last artifact was announced, by uid. */
  readonly #held = new Map<string, Pending>();
  /** True if milestones were dropped for lack of room. */
  #isBehind = false;
  #isListed = false;
  #isOn = true;

  constructor(options: AnnouncerOptions) {
    const { clock, random } = options;
    this.#options = options;
    this.#queue = new EventQueue<string>({
      clock,
      random,
      parallel,
      ownerOf: (root) => ({
        namespace: this.#lanes.get(root)?.[0]?.object.metadata.namespace ?? '',
        order: root,
      }),
      attempt: (root) => this.#attempt(root),
      ended: (root, outcome) => this.#ended(root, outcome),
      retrying: (root, reason, failures) => {
        if (failures === 1 || failures % 10 === 0)
          options.log.warn({ root, failures }, `domain event not delivered, retrying: ${reason}`);
      },
    });
    this.#records = new DelayQueue(clock, (uid) => void this.#record(uid));
  }

  /** Milestones not delivered yet. */
  get pending(): number {
    return this.#pending;
  }

  /** Objects whose status does not record their announced milestones yet. */
  get unrecorded(): number {
    return this.#noted.size;
  }

  /** Every kind has been listed. */
  synced(): void {
    this.#isListed = true;
    this.#isOn = isOn('domainEvents', this.#options.view.settings);
    void this.#takeAll();
  }

  /** Processes a change that the view has already applied. */
  change(change: Change): void {
    const { before, after } = change;
    if (!this.#isListed) return;
    if (change.kind === 'ConfigMap') this.#followSwitch();
    if (after !== undefined) this.#take(after);
    else if (before !== undefined) this.#forget(before);
    if (change.kind !== 'ArtifactWorkflow') return;
    const order = this.#options.view.orderOf(change.after ?? change.before);
    if (order !== undefined && this.#held.has(order.metadata.uid ?? '')) this.#take(order);
  }

  /** Stops sending; resolves when the deliveries in flight have ended. */
  async close(): Promise<void> {
    this.#records.close();
    await this.#queue.close();
  }

  #followSwitch(): void {
    const wasOn = this.#isOn;
    this.#isOn = isOn('domainEvents', this.#options.view.settings);
    if (this.#isOn && !wasOn) void this.#takeAll();
    if (this.#isOn || !wasOn) return;
    for (const root of this.#lanes.keys()) this.#queue.forget(root);
    for (const known of [this.#lanes, this.#held, this.#noted]) known.clear();
    this.#pending = 0;
  }

  /** Yields to the event loop between batches: there may be very many objects. */
  async #takeAll(): Promise<void> {
    this.#isBehind = false;
    let taken = 0;
    for (const object of this.#options.view.objects()) {
      this.#take(object);
      taken += 1;
      if (taken % takenAtOnce === 0) await yieldToEventLoop();
    }
  }

  #take(object: Observed): void {
    const { shard, timeOfDay } = this.#options;
    if (!isAnnounced(object) || !this.#isOn || isForeign(object, shard)) return;
    const { uid = '' } = object.metadata;
    const { announced } = object.status ?? {};
    const noted = this.#noted.get(uid);
    if (noted !== undefined) noted.object = object;
    if (noted !== undefined && announced === noted.taken && noted.delivered === noted.taken)
      this.#noted.delete(uid);
    const since = noted?.taken ?? announced;
    const found = announcements(object, new Date(timeOfDay.now()), since);
    const held = this.#held.get(uid);
    this.#held.delete(uid);
    // The object has changed since: its held end is sent now, or nobody would be told.
    if (held !== undefined && !found.some((one) => one.announced === held.announced)) this.#add(held);
    let before = this.#noted.get(uid)?.taken ?? announced ?? '';
    for (const { announced, name } of found) {
      const one = { object, since: before, announced };
      if (object.kind === 'Order' && name !== 'accepted' && !this.#haveArtifactsEnded(object)) {
        this.#held.set(uid, one);
        return;
      }
      if (!this.#add(one)) return;
      before = announced;
    }
  }

  /** Kinds are watched separately: the end of an Order may be seen before that of its last artifact. */
  #haveArtifactsEnded(order: Order): boolean {
    const shown = order.status?.artifactWorkflows ?? {};
    return this.#options.view.childrenOf(order).every((child) => {
      const phase = shown[keyOf(child)]?.phase;
      // An Invalid artifact that waits for a person has no end.
      return !isFinalPhase(phase) || hasEnded(child);
    });
  }

  /** Returns false if there is no room. */
  #add(one: Pending): boolean {
    if (this.#pending >= mostPending) {
      this.#isBehind = true;
      return false;
    }
    const { uid = '' } = one.object.metadata;
    const noted = this.#noted.get(uid);
    this.#noted.set(uid, { ...noted, object: one.object, taken: one.announced });
    this.#pending += 1;
    const root = rootUid(one.object);
    const lane = this.#lanes.get(root);
    if (lane !== undefined) lane.push(one);
    else {
      this.#lanes.set(root, [one]);
      this.#queue.offer(root, root);
    }
    return true;
  }

  #forget({ metadata: { uid = '' } }: Observed): void {
    const held = this.#held.get(uid);
    if (held !== undefined) this.#add(held);
    this.#noted.delete(uid);
    this.#held.delete(uid);
    this.#records.delete(uid);
  }

  async #attempt(root: string): Promise<Outcome> {
    const { deliver, timeOfDay } = this.#options;
    const next = this.#lanes.get(root)?.[0];
    if (next === undefined) return { result: 'delivered' };
    const { object, since, announced } = next;
    try {
      const found = announcements(object, new Date(timeOfDay.now()), since);
      const event = found.find((one) => one.announced === announced)?.event;
      return event === undefined ? { result: 'delivered' } : await deliver(toBinaryRequest(event));
    } catch (caught) {
      // An attribute that CloudEvents does not allow: a retry cannot change that.
      return { result: 'refused', reason: ArcError.from(caught).message };
    }
  }

  #ended(root: string, outcome: Outcome): void {
    const { log, metrics } = this.#options;
    const lane = this.#lanes.get(root) ?? [];
    const one = lane.shift();
    if (lane.length > 0) this.#queue.offer(root, root);
    else this.#lanes.delete(root);
    // Domain events were switched off meanwhile.
    if (one === undefined) return;
    const { object, announced } = one;
    const { namespace, name, uid = '' } = object.metadata;
    this.#pending -= 1;
    metrics.announced(outcome.result);
    if (outcome.result === 'refused')
      log.error(
        { object: `${object.kind} ${namespace}/${name}`, announced },
        `domain event refused: ${outcome.reason}`,
      );
    const noted = this.#noted.get(uid);
    if (noted !== undefined) {
      noted.delivered = announced;
      this.#recordLater(uid, noted);
    }
    if (this.#isBehind && this.#pending < mostPending / 2) void this.#takeAll();
  }

  #recordLater(uid: string, noted: Noted): void {
    const now = this.#options.clock.now();
    const after = isOver(noted.object) ? recordAfter.ended : recordAfter.others;
    noted.yieldUntil ??= now + after + longestYield;
    this.#records.set(uid, now + after, undefined);
  }

  async #record(uid: string): Promise<void> {
    const { clock, isBusy, record, log } = this.#options;
    const noted = this.#noted.get(uid);
    if (noted?.delivered === undefined) return;
    const { object, delivered, yieldUntil = 0 } = noted;
    // A write between a function's read and its write would make the function conflict.
    if (isBusy(uid) && clock.now() < yieldUntil) {
      this.#records.set(uid, clock.now() + recordAfter.ended, undefined);
      return;
    }
    try {
      await this.#recording.run(() => record(object, delivered));
      delete noted.yieldUntil;
    } catch (caught) {
      const error = ArcError.from(caught);
      // The object is gone, and nothing has to be recorded.
      if (error.code === 'NotFound') return;
      // Another writer was faster, or another object has this name: the next look decides.
      if (error.code === 'Conflict') {
        this.#records.set(uid, clock.now() + recordAfter.ended, undefined);
        return;
      }
      log.info({ err: error, object: object.metadata.name }, 'status.announced not written, trying again');
      this.#records.set(uid, clock.now() + recordAfter.others, undefined);
    }
  }
}

/** True for an object whose milestones have all come, as far as known. */
function isOver(object: Announced): boolean {
  if (object.kind === 'ArtifactWorkflow') return hasEnded(object);
  const { phase } = object.status ?? {};
  return phase !== 'Pending' && phase !== 'Running';
}
