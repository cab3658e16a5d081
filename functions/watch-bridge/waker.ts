import { breathe, type Clock } from '#shared/async';
import {
  type ArtifactWorkflow,
  asksForRetry,
  type Change,
  isOnlySubmitted,
  isWokenKind,
  type Shard,
  shardOf,
  type Waking,
  wakesFor,
  wakingOf,
  wholeShard,
} from '#shared/domain';
import type { KubeObject } from '#shared/meta';
import { ObjectTable } from './objects/object-table.ts';
import { RollUpPace, runOf } from './schedule/roll-up-pace.ts';
import { defaultIntervals, type Intervals, Timers } from './schedule/timers.ts';
import { isForeign, withForgotten } from './watches/foreign.ts';
import { References } from './watches/references.ts';

/** So long an Order is not told that a Workflow was submitted, ms: most of them run by then, and that is told at once. */
const submittedMs = 3_000;
/** Objects that are looked at while others wait. */
const looksAtOnce = 50;

export interface WakerOptions {
  /** For intervals: a correction of the time of day must not stop what repeats itself. */
  clock: Clock;
  /** For what objects say of times: when something is due, since when an Order runs. Default: `clock`. */
  timeOfDay?: Clock;
  random: () => number;
  /** Where the states of the objects are. */
  objects?: ObjectTable;
  intervals?: Partial<Intervals> | undefined;
  /** Which objects it wakes; default all. Others are only looked at for what they mean to these. */
  shard?: Shard | undefined;
  /** Sends a wake, or replaces the pending one of its object and reason; `at` (ms of `clock`) is when, default at once. */
  send(waking: Waking, observed: KubeObject, options: { at?: number; epoch?: string }): void;
  /** Drops the pending wakes of an object that is gone. */
  forget(uid: string): void;
  /** Called when a resync found work: an event was lost. */
  foundWork(): void;
}

/** Which objects wake, when and why, by what is observed and by the clock. It reads and sends nothing itself. */
export class Waker {
  readonly #options: WakerOptions;
  readonly #shard: Shard;
  readonly #references: References;
  readonly #pace = new RollUpPace();
  readonly #timers: Timers;
  /** True once every kind has been listed. */
  #isListed = false;
  #ready = false;
  #isClosed = false;
  /** What changed before every kind was listed, after it was first seen: the sum of the changes of each object. */
  readonly #changedBeforeSync = new Map<string, Change>();

  constructor(options: WakerOptions) {
    const { clock, timeOfDay = clock, random, intervals, send } = options;
    const { objects = new ObjectTable(), shard = wholeShard } = options;
    this.#options = options;
    this.#shard = shard;
    this.#references = new References(objects);
    this.#timers = new Timers({
      clock,
      timeOfDay,
      random,
      intervals: { ...defaultIntervals, ...intervals },
      references: this.#references,
      wake: (object, reason, epoch) => send(wakingOf(object, reason), object, { epoch }),
    });
  }

  /** True once every kind has been listed and what is unsettled wakes. */
  get ready(): boolean {
    return this.#ready;
  }

  /** Objects that are not settled. */
  get unsettled(): number {
    return this.#timers.unsettled;
  }

  /** Takes a change of a watched object; in a first list, its appearance. */
  change(observed: Change): void {
    this.#change(withForgotten(observed, this.#shard));
  }

  #change(change: Change): void {
    const { before, after } = change;
    const observed = after ?? before;
    if (observed === undefined) return;
    const { uid = '' } = observed.metadata;
    if (after !== undefined) this.#update(after, before);
    if (this.#isListed) this.#wake(change, observed);
    else if (before !== undefined)
      this.#changedBeforeSync.set(uid, {
        ...change,
        before: this.#changedBeforeSync.get(uid)?.before ?? before,
      });
    if (after === undefined) this.#forget(observed);
  }

  /** Every kind has been listed: what is unsettled wakes, and what changed since it was first seen. Others run in between. */
  async synced(): Promise<void> {
    this.#isListed = true;
    const epoch = `start-${this.#options.clock.now()}`;
    let looks = 0;
    for (const id of this.#references.ids()) {
      looks += 1;
      if (looks % looksAtOnce === 0) await breathe();
      const object = this.#references.object(id);
      if (object === undefined || !isWokenKind(object.kind) || this.#isForeign(object)) continue;
      // Until now it was unknown what the object refers to, whatever the order of the lists.
      this.#timers.update(object);
      if (this.#timers.isUnsettled(object)) this.#options.send(wakingOf(object, 'resync'), object, { epoch });
    }
    if (this.#isClosed) return;
    for (const change of this.#changedBeforeSync.values()) {
      const observed = change.after ?? change.before;
      if (observed !== undefined) this.#wake(change, observed);
    }
    this.#changedBeforeSync.clear();
    this.#ready = true;
    this.#timers.start();
  }

  /** The broker has taken a wake of the object with this uid. */
  delivered(uid: string): void {
    this.#timers.delivered(uid);
  }

  close(): void {
    this.#isClosed = true;
    this.#timers.close();
  }

  #update(object: KubeObject, before: KubeObject | undefined): void {
    if (this.#isForeign(object)) {
      this.#updateForeign(object, before);
      return;
    }
    this.#references.put(object, before);
    if (!this.#isListed || !isWokenKind(object.kind)) return;
    if (this.#timers.update(object)) this.#options.foundWork();
  }

  #updateForeign(object: KubeObject, before: KubeObject | undefined): void {
    const { uid, name, namespace = '' } = object.metadata;
    if (object.kind === 'ArtifactWorkflow') {
      // One that was made by hand may be labelled as another Order's.
      const own = this.#references.artifactWorkflowNamed(namespace, name);
      if (own?.metadata.uid === uid) this.#forget(object);
      this.#references.putForeign(object as unknown as ArtifactWorkflow);
    } else if (object.kind === 'Endpoint') {
      this.#references.put(object, before);
      this.#timers.updateForeign(object);
    }
  }

  #isForeign(object: KubeObject): boolean {
    return isForeign(object, this.#shard);
  }

  #forget(object: KubeObject): void {
    const { uid = '' } = object.metadata;
    this.#timers.forget(object);
    this.#references.remove(object);
    this.#pace.forget(uid);
    this.#options.forget(uid);
  }

  #wake(change: Change, observed: KubeObject): void {
    const { clock, timeOfDay = clock, send } = this.#options;
    const { index, of } = this.#shard;
    for (const waking of wakesFor(change, this.#references)) {
      if (shardOf(waking.partitionKey, of) !== index) continue;
      const { uid } = waking.target;
      this.#timers.woken(uid);
      // The broker may take this wake and lose it. No status shows by which type or template it was computed, or every retry that is owed.
      this.#timers.doubt(uid, waking.reason === 'inputs' || asksForRetry(change));
      if (waking.reason === 'inputs' || waking.reason === 'changed') this.#timers.askAgain(uid);
      if (waking.reason !== 'children') {
        send(waking, observed, {});
        continue;
      }
      const now = clock.now();
      const isUnfinished = this.#references.hasUnfinishedChild(uid);
      const run = runOf(this.#references.order(uid), isUnfinished, now, timeOfDay.now());
      const at = isOnlySubmitted(change)
        ? Math.max(now + submittedMs, this.#pace.next(uid, run, now))
        : this.#pace.timeFor(uid, run, now);
      send(waking, observed, { at });
    }
  }
}
