import { type Clock, DelayQueue, doubled, jittered } from '#shared/base/async';
import {
  type Duty,
  type DutyKind,
  type duties,
  type Look,
  type Step,
  stepNames,
  steps,
  type Work,
} from '#shared/domain';

/** An object of a kind that has duties. */
export type WithDuties = Parameters<typeof duties>[1];

/** The queue of deliveries: one event per key, and at most one attempt per key in flight. */
export interface Outbox {
  /** Enqueues an event, or replaces the pending event of its key; `at` is in ms of the agenda's clock. The earlier of both times counts. */
  offer(key: string, event: DueEvent, at: number): void;
  /** Drops the pending event of a key; an attempt in flight continues. */
  forget(key: string): void;
}

/** A duty whose time has come. */
export interface DueEvent {
  object: WithDuties;
  step: Step;
  why: string;
  isLook: boolean;
  /** Size of the remaining work. */
  remaining?: number;
  /** True for a duty that yields to others while many are due. */
  yields?: boolean;
}

export interface AgendaOptions {
  /** A steady clock, for waits. */
  clock: Clock;
  /** The clock to compare with times in objects. */
  timeOfDay: Pick<Clock, 'now'>;
  random: () => number;
  outbox: Outbox;
  /** Called when the duties of the object with this uid have to be computed again. */
  look(uid: string): void;
}

/** What was sent, while the object still has the duty. */
interface Sent {
  why: string;
  /** When it was last sent or answered; for a look that was not sent, when the object first had the duty. */
  at: number;
  times: number;
  isLook: boolean;
  isUnderWay: boolean;
  /** Size of the remaining work when the duty was last computed. */
  remaining: number;
  /** Jitter: spreads the looks at many objects. */
  spread: number;
}

/** Backoff of repeats: a duty that stays due after its delivery is sent again. */
const repeat = { first: 1_000, longest: 60_000 };

const stepsOf: Readonly<Record<DutyKind, readonly Step[]>> = {
  Order: stepsFor('Order'),
  ArtifactWorkflow: stepsFor('ArtifactWorkflow'),
  Endpoint: stepsFor('Endpoint'),
};

function stepsFor(kind: DutyKind): Step[] {
  return stepNames.filter((step) => (steps[step].kinds as readonly DutyKind[]).includes(kind));
}

/**
 * Sends each duty when it is due: once, then repeatedly with backoff while the object still has the duty. A duty whose reason changes is sent
 * at once. The record of a duty is dropped when the object no longer has the duty.
 */
export class Agenda {
  readonly #options: AgendaOptions;
  readonly #sent = new Map<string, Sent>();
  /** Duties that are due, sent or not. */
  readonly #due = new Set<string>();
  /** When to compute duties again, by key. */
  readonly #later: DelayQueue<string>;
  /** When a rate-limited step was last sent. */
  readonly #paced = new Map<string, number>();

  constructor(options: AgendaOptions) {
    this.#options = options;
    this.#later = new DelayQueue(options.clock, (_key, uid) => options.look(uid));
  }

  /** Duties that are due. */
  get due(): number {
    return this.#due.size;
  }

  /** True while a step of the object with this uid is due or in flight. */
  isBusy(uid: string): boolean {
    const keys = stepNames.map((step) => keyOf(uid, step));
    return keys.some((key) => this.#due.has(key) || this.#sent.get(key)?.isUnderWay === true);
  }

  /** Takes all duties of an object. Returns true if a duty is newly due. */
  put(object: WithDuties, found: readonly Duty[]): boolean {
    const { uid = '' } = object.metadata;
    let isNews = false;
    for (const step of stepsOf[object.kind]) {
      const key = keyOf(uid, step);
      const duty = found.find((one) => one.step === step);
      if (duty === undefined) this.#drop(key);
      else if ('look' in duty) this.#putLook(key, object, duty);
      else isNews = this.#putWork(key, object, duty) || isNews;
    }
    return isNews;
  }

  /** Drops everything about a deleted object. */
  forget({ kind, metadata: { uid = '' } }: WithDuties): void {
    for (const step of stepsOf[kind]) {
      this.#drop(keyOf(uid, step));
      this.#paced.delete(keyOf(uid, step));
    }
  }

  /** Called before the first attempt to deliver an event. */
  started(key: string, { why, isLook, remaining = 0 }: DueEvent): void {
    const now = this.#options.clock.now();
    const before = this.#sent.get(key);
    const isSame = before !== undefined && before.isLook === isLook && before.why === why;
    const times = isSame ? before.times + 1 : 0;
    const spread = before?.spread ?? jittered(1, this.#options.random);
    this.#sent.set(key, { why, at: now, times, isLook, isUnderWay: true, remaining, spread });
    if (this.#paced.has(key)) this.#paced.set(key, now);
  }

  /** Called when the broker has accepted an event, or refused it for good. */
  ended(key: string): void {
    const sent = this.#sent.get(key);
    if (sent === undefined) return;
    sent.isUnderWay = false;
    sent.at = this.#options.clock.now();
    this.#options.look(uidOf(key));
  }

  close(): void {
    this.#later.close();
  }

  #drop(key: string): void {
    if (this.#sent.get(key)?.isUnderWay !== true) this.#sent.delete(key);
    else this.#sent.set(key, { ...settledWhileUnderWay });
    this.#due.delete(key);
    this.#later.delete(key);
    this.#options.outbox.forget(key);
  }

  #putWork(key: string, object: WithDuties, { step, why, due, pace, remaining = 0 }: Work): boolean {
    const { clock, timeOfDay, outbox } = this.#options;
    const now = clock.now();
    const left = due - timeOfDay.now();
    const sent = this.#sent.get(key);
    if (left > 0) {
      // Known, and no longer due: when it is due again, it is a new duty.
      this.#drop(key);
      this.#later.set(key, now + left, uidOf(key));
      return false;
    }
    const isNews = !this.#due.has(key);
    this.#due.add(key);
    if (sent !== undefined && !sent.isLook && sent.why === why) {
      if (sent.isUnderWay) return isNews;
      // A function is in progress: a second one would do the same work.
      if (remaining < sent.remaining) Object.assign(sent, { at: now, remaining });
      const again = sent.at + doubled(repeat.first, sent.times, repeat.longest);
      if (again > now) {
        this.#later.set(key, again, uidOf(key));
        return isNews;
      }
    }
    this.#later.delete(key);
    const event = { object, step, why, isLook: false, remaining, ...(pace?.yields && { yields: true }) };
    outbox.offer(key, event, this.#timeFor(key, pace, now));
    return isNews;
  }

  #timeFor(key: string, pace: Work['pace'], now: number): number {
    const { spacing = 0, debounce = 0 } = pace ?? {};
    const last = this.#paced.get(key) ?? Number.NEGATIVE_INFINITY;
    if (spacing > 0) this.#paced.set(key, last);
    else this.#paced.delete(key);
    return Math.max(now + debounce, last + spacing);
  }

  #putLook(key: string, object: WithDuties, { step, why, look }: Look): void {
    const { clock, outbox, random } = this.#options;
    const now = clock.now();
    this.#due.delete(key);
    const known = this.#sent.get(key);
    if (known?.isUnderWay === true) return;
    // The work of the step is done: from now on the duty is a look, last done a moment ago.
    if (known === undefined || !known.isLook) outbox.forget(key);
    const isNew = known === undefined || !known.isLook;
    const sent = isNew
      ? { why, at: now, times: 0, isLook: true, isUnderWay: false, remaining: 0, spread: jittered(1, random) }
      : known;
    this.#sent.set(key, sent);
    const isAsked = sent.why !== why;
    if (isAsked) Object.assign(sent, { why, times: 0 });
    const next = isAsked ? now : sent.at + doubled(look.first, sent.times, look.longest) * sent.spread;
    if (next > now) this.#later.set(key, next, uidOf(key));
    else {
      this.#later.delete(key);
      outbox.offer(key, { object, step, why, isLook: true }, now);
    }
  }
}

/** Marks a duty that disappeared while its event was in flight: another event of the same step follows after that. */
const settledWhileUnderWay: Sent = {
  why: '',
  at: 0,
  times: 0,
  isLook: false,
  isUnderWay: true,
  remaining: 0,
  spread: 1,
};

export function keyOf(uid: string, step: Step): string {
  return `${uid}/${step}`;
}

function uidOf(key: string): string {
  return key.slice(0, key.lastIndexOf('/'));
}
