import type { Clock } from '#shared/async';
import { type WakeObject, type Waking, wakeReasonNames } from '#shared/domain';
import { ArcError } from '#shared/errors';
import { toBinaryRequest, type WakeData, wakeEvent } from '#shared/events';
import type { Logger } from '#shared/telemetry';
import { createDelivery, type HttpMessage } from './delivery.ts';
import { type Outcome, WakeQueue } from './queue.ts';
import type { Sink } from './sink.ts';

export interface WakeSenderOptions {
  sink: Sink;
  /** Ends the attempts under way. */
  signal: AbortSignal;
  log: Logger;
  /** Called for each wake that was delivered or refused, and for each attempt that is retried. */
  metrics: { delivered(outcome: string, lagMs: number): void; retried(): void };
  /** For waits. */
  clock: Clock;
  /** For the times in events. */
  timeOfDay: Pick<Clock, 'now'>;
  random: () => number;
  /** Most attempts under way at once. */
  parallel: number;
  /** Asked just before each attempt is written; false while another process may be sending. */
  maySend: () => boolean;
  /** Called with the uid of the woken object when the broker has taken a wake. */
  delivered: (uid: string) => void;
}

/** A wake to be delivered: the object to wake, the object that was observed, when, and for repetitions which one it is. */
interface PendingWake extends Waking {
  watched: WakeData;
  time: number;
  epoch?: string;
}

/** Delivers wakes to the broker: one pending wake per object and reason, retried until the broker answers. */
export class WakeSender {
  readonly #timeOfDay: Pick<Clock, 'now'>;
  readonly #queue: WakeQueue<PendingWake>;

  constructor({
    sink,
    signal,
    log,
    metrics,
    clock,
    timeOfDay,
    random,
    parallel,
    maySend,
    delivered,
  }: WakeSenderOptions) {
    const deliver = createDelivery(sink, signal, maySend);
    this.#timeOfDay = timeOfDay;
    this.#queue = new WakeQueue<PendingWake>({
      clock,
      random,
      parallel,
      isRepetition: ({ reason }) => reason === 'resync',
      attempt: (wake) => attempt(wake, deliver),
      ended: (wake, outcome, lagMs) => {
        metrics.delivered(outcome.result, lagMs);
        delivered(wake.target.uid);
        if (outcome.result === 'refused')
          log.error({ wake: wake.target, reason: wake.reason }, `wake refused: ${outcome.reason}`);
      },
      retrying: (wake, reason, failures) => {
        metrics.retried();
        if (failures === 1 || failures % 10 === 0)
          log.warn({ wake: wake.target, failures }, `wake not delivered, retrying: ${reason}`);
      },
    });
  }

  /** Pending wakes, those under way included. */
  get depth(): number {
    return this.#queue.depth;
  }

  /**
   * Delivers a wake, or replaces the pending one of its object and reason. A resync is dropped while the broker has yet to take another
   * wake of the object: what waits must not grow by itself.
   *
   * @param observed the object whose state causes the wake
   * @param options.at when to deliver it, ms since the epoch; default at once
   * @param options.epoch what distinguishes a repetition from the one before
   */
  send(waking: Waking, observed: WakeObject, options: { at?: number; epoch?: string } = {}): void {
    const { at, epoch } = options;
    if (waking.reason === 'resync' && this.#isBehind(waking.target.uid)) return;
    const wake = { ...waking, watched: watchedOf(observed), time: this.#timeOfDay.now() };
    const key = keyOf(waking.target.uid, waking.reason);
    this.#queue.offer(key, epoch === undefined ? wake : { ...wake, epoch }, at);
  }

  #isBehind(uid: string): boolean {
    return wakeReasonNames.some((reason) => this.#queue.isDue(keyOf(uid, reason)));
  }

  /** Drops the pending wakes of an object that is gone. */
  forget(uid: string): void {
    for (const reason of wakeReasonNames) this.#queue.forget(keyOf(uid, reason));
  }

  /** Accepts no more wakes and resolves when the attempts under way have ended. */
  close(): Promise<void> {
    return this.#queue.close();
  }
}

async function attempt(
  wake: PendingWake,
  deliver: (message: HttpMessage) => Promise<Outcome>,
): Promise<Outcome> {
  try {
    return await deliver(messageOf(wake));
  } catch (caught) {
    // An attribute that CloudEvents does not allow: another attempt cannot change that.
    return { result: 'refused', reason: ArcError.from(caught).message };
  }
}

/** The wake as a binary CloudEvent, the same for every attempt. Throws for attributes that CloudEvents does not allow. */
function messageOf(wake: PendingWake): HttpMessage {
  const { target, watched, reason, partitionKey, time, epoch } = wake;
  return toBinaryRequest(wakeEvent({ target, watched, reason, partitionKey, epoch, time: new Date(time) }));
}

function keyOf(uid: string, reason: Waking['reason']): string {
  return `${uid}/${reason}`;
}

function watchedOf({ apiVersion, kind, metadata }: WakeObject): WakeData {
  const { name, namespace, uid = '', resourceVersion = '' } = metadata;
  return { apiVersion, kind, name, uid, resourceVersion, ...(namespace === undefined ? {} : { namespace }) };
}
