import type { Clock } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import type { Logger } from '#shared/base/telemetry';
import { stepEvent, toBinaryRequest } from '#shared/conduit/events';
import { artifactIdOf, rootUid } from '#shared/domain';
import type { DueEvent, Outbox } from '../duties/agenda.ts';
import { createDelivery, type HttpMessage } from './delivery.ts';
import { EventQueue, type Outcome } from './queue.ts';
import type { Sink } from './sink.ts';

export interface SenderOptions {
  sink: Sink;
  /** Ends the attempts in flight. */
  signal: AbortSignal;
  log: Logger;
  /** Called for each event that was delivered or refused, and for each retry. */
  metrics: { delivered(outcome: string, lagMs: number, attemptMs: number): void; retried(): void };
  /** For waits. */
  clock: Clock;
  /** For the times in events. */
  timeOfDay: Pick<Clock, 'now'>;
  random: () => number;
  /** Called just before each attempt is written; false while another process may be sending. */
  maySend: () => boolean;
  /** Called before the first attempt to deliver an event, and after the broker's final answer. */
  started: (key: string, event: DueEvent) => void;
  ended: (key: string) => void;
}

/** Delivery attempts in flight. */
const parallel = 16;

/** An event with its time, which tells it from other events of the same state of its object. */
interface PendingEvent extends DueEvent {
  key: string;
  time: number;
}

/** Delivers step events to the broker: one pending event for each object and step, retried until the broker answers. */
export class Sender implements Outbox {
  readonly #timeOfDay: Pick<Clock, 'now'>;
  readonly #queue: EventQueue<PendingEvent>;

  constructor(options: SenderOptions) {
    const { sink, signal, log, metrics, clock, timeOfDay, random, maySend, started, ended } = options;
    const deliver = createDelivery(sink, signal, maySend);
    const about = ({ object, step, why }: PendingEvent) => ({
      object: `${object.kind} ${object.metadata.namespace}/${object.metadata.name}`,
      step,
      reason: why,
    });
    this.#timeOfDay = timeOfDay;
    this.#queue = new EventQueue<PendingEvent>({
      clock,
      random,
      parallel,
      isUrgent: ({ isLook, yields }) => !isLook && yields !== true,
      ownerOf: ({ object }) => ({ namespace: object.metadata.namespace ?? '', order: rootUid(object) }),
      started: (event) => started(event.key, event),
      attempt: (event) => attempt(event, deliver),
      ended: (event, outcome, lagMs, attemptMs) => {
        metrics.delivered(outcome.result, lagMs, attemptMs);
        if (outcome.result === 'refused') log.error(about(event), `event refused: ${outcome.reason}`);
        ended(event.key);
      },
      retrying: (event, reason, failures) => {
        metrics.retried();
        if (failures === 1 || failures % 10 === 0)
          log.warn({ ...about(event), failures }, `event not delivered, retrying: ${reason}`);
      },
    });
  }

  /** Pending events, including those in flight. */
  get depth(): number {
    return this.#queue.depth;
  }

  offer(key: string, event: DueEvent, at: number): void {
    this.#queue.offer(key, { ...event, key, time: this.#timeOfDay.now() }, at);
  }

  forget(key: string): void {
    this.#queue.forget(key);
  }

  /** Accepts no more events; resolves when the attempts in flight have ended. */
  close(): Promise<void> {
    return this.#queue.close();
  }
}

async function attempt(
  event: PendingEvent,
  deliver: (message: HttpMessage) => Promise<Outcome>,
): Promise<Outcome> {
  try {
    return await deliver(messageOf(event));
  } catch (caught) {
    // An attribute that CloudEvents does not allow: a retry cannot change that.
    return { result: 'refused', reason: ArcError.from(caught).message };
  }
}

/** Encodes the event as a binary CloudEvent, the same for every attempt. Throws for attributes that CloudEvents does not allow. */
function messageOf({ object, step, why, time }: PendingEvent): HttpMessage {
  const { apiVersion, kind, metadata } = object;
  const { name, namespace = '', uid = '', resourceVersion = '' } = metadata;
  const artifact = kind === 'ArtifactWorkflow' ? artifactIdOf(object) : undefined;
  return toBinaryRequest(
    stepEvent({
      object: { apiVersion, kind, namespace, name, uid, ...(artifact === undefined ? {} : { artifact }) },
      observed: { apiVersion, kind, namespace, name, uid, resourceVersion },
      step,
      reason: why,
      partitionKey: rootUid(object),
      epoch: time,
      time: new Date(time),
    }),
  );
}
