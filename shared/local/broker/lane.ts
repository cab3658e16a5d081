import type { Logger } from 'pino';
import { createSemaphore, SharedCapacity } from '#shared/base/async';
import type { Outcome } from './answer.ts';
import { type SendPost, tryDelivery } from './attempt.ts';
import { type BrokerEvent, ownerOf, withAttributes } from './event.ts';
import { type Filter, matches } from './filter.ts';
import type { Destination, Trigger } from './trigger.ts';

/** The deliveries of one Trigger to its subscriber, in turns by namespace and Order. */
export interface Lane {
  trigger: Trigger;
  wants(event: BrokerEvent): boolean;
  /** False if the queue is full, or the namespace of the event has used its share. */
  hasRoom(event: BrokerEvent): boolean;
  /** Resolves when the event was delivered, or has become a dead letter. */
  push(event: BrokerEvent): Promise<void>;
  depth(): number;
  /** Resolves when nothing is in flight. */
  idle(): Promise<void>;
}

export interface LaneOptions {
  subscriber: URL;
  deadLetterSink: URL | undefined;
  capacity: number;
  concurrency: number;
  defaultTimeoutMs: number;
  backoffCapMs: number;
  signal: AbortSignal;
  send?: SendPost | undefined;
  log: Logger;
  /** Passes a reply to the broker; false without room, which fails the delivery. */
  reply(event: BrokerEvent, cause: BrokerEvent): boolean;
}

/** The extension that counts reply hops; subscribers never see it. */
export const ttlExtension = 'knativebrokerttl';

/** Bytes of an answer in a dead letter, before base64: 1,024 characters afterwards. */
const errorDataLimit = 768;

export function createLane(trigger: Trigger, options: LaneOptions): Lane {
  const { signal, log } = options;
  const slots = createSemaphore(options.concurrency);
  const active = new Set<Promise<void>>();
  // Bounded, because senders can make up namespaces.
  const room = new SharedCapacity(options.capacity, 2 * options.capacity);
  const wanted: Filter = { all: trigger.filters };
  const tryOptions = { ...options, delivery: trigger.delivery, slots };

  const deadLetter = async (event: BrokerEvent, failure: Outcome & { kind: 'failed' }): Promise<void> => {
    const note = { trigger: trigger.name, id: event.attributes.id, status: failure.status };
    if (options.deadLetterSink === undefined) {
      log.warn(note, 'an event was refused and there is no dead letter sink: it is dropped');
      return;
    }
    const letter = withAttributes(event, {
      knativeerrordest: addressOf(trigger.subscriber, options.subscriber),
      knativeerrorcode: failure.status === undefined ? undefined : String(failure.status),
      knativeerrordata:
        failure.body.length > 0 ? failure.body.subarray(0, errorDataLimit).toString('base64') : undefined,
    });
    const result = await tryDelivery(letter, options.deadLetterSink, {
      ...tryOptions,
      inspect: (outcome) => outcome,
    });
    if (result.kind === 'failed' && !signal.aborted) {
      log.warn(
        { ...note, sinkStatus: result.status },
        'the dead letter sink refused an event: it is dropped',
      );
    }
  };

  const deliver = async (event: BrokerEvent): Promise<void> => {
    const sent = withAttributes(event, { [ttlExtension]: undefined });
    const inspect = (outcome: Outcome): Outcome => {
      if (outcome.kind === 'failed' || outcome.reply === undefined) return outcome;
      if (options.reply(outcome.reply, event)) return outcome;
      return { kind: 'failed', retry: true, status: 429, body: Buffer.from('no room for the reply') };
    };
    const outcome = await tryDelivery(sent, options.subscriber, { ...tryOptions, inspect });
    // Events held by a closing broker are lost; the bridge sends again what is still due.
    if (outcome.kind !== 'done' && !signal.aborted) await deadLetter(sent, outcome);
  };

  return {
    trigger,
    wants: (event) => matches(wanted, event.attributes),
    hasRoom: (event) => room.hasRoom(ownerOf(event).namespace),
    depth: () => active.size,
    push(event) {
      const leave = room.enter(ownerOf(event).namespace);
      const work = deliver(event)
        .catch((caught: unknown) => {
          log.error({ err: caught, trigger: trigger.name }, 'a delivery failed in an unforeseen way');
        })
        .finally(() => {
          active.delete(work);
          leave();
        });
      active.add(work);
      return work;
    },
    async idle() {
      while (active.size > 0) await Promise.allSettled([...active]);
    },
  };
}

/** Returns the subscriber's address in the cluster: a loopback port would not tell a reader which function it is. */
function addressOf({ ref }: Destination, url: URL): string {
  return ref === undefined ? url.href : `http://${ref.name}.${ref.namespace}.svc.cluster.local`;
}
