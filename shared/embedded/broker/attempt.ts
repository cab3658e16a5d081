import { doubled, pause, type Semaphore, startDeadline } from '#shared/async';
import { ArcError } from '#shared/errors';
import { answerLimit, classifyAnswer, type Outcome, readBounded } from './answer.ts';
import { type BrokerEvent, eventHeaders } from './event.ts';
import type { Delivery } from './trigger.ts';

/** One POST of the event in binary mode. Never rejects: no answer in time is an outcome too. */
export async function attempt(
  event: BrokerEvent,
  url: URL,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Outcome> {
  const headers = eventHeaders(event);
  headers.set('prefer', 'reply');
  const deadline = startDeadline(timeoutMs, 'the subscriber', signal);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body: event.data ? new Uint8Array(event.data) : null,
      // A redirect is a failure that is not retried, not a place to send users' events to.
      redirect: 'manual',
      signal: deadline.signal,
    });
    return classifyAnswer(response.status, response.headers, await readBounded(response.body, answerLimit));
  } catch (caught) {
    const error = ArcError.from(caught);
    const reason =
      error.cause instanceof Error && error.cause.cause instanceof Error ? error.cause.cause : error;
    return { kind: 'failed', retry: true, status: undefined, body: Buffer.from(reason.message) };
  } finally {
    deadline.end();
  }
}

/**
 * How long to wait before retry number `n` (from 0): exponential is delay * 2^n, linear delay * n, so that its first
 * retry comes at once (as Knative's Go dispatchers do), both cut at `capMs`.
 */
export function backoffMs(
  delivery: Pick<Delivery, 'backoffPolicy' | 'backoffDelayMs'>,
  n: number,
  capMs: number,
): number {
  if (delivery.backoffPolicy === 'linear') return Math.min(delivery.backoffDelayMs * n, capMs);
  return doubled(delivery.backoffDelayMs, n, capMs);
}

export interface TryOptions {
  delivery: Delivery;
  /** Of one attempt where the delivery names no timeout. */
  defaultTimeoutMs: number;
  backoffCapMs: number;
  signal: AbortSignal;
  /** One for each attempt; a retry that waits holds none. */
  slots: Semaphore;
  /** Runs on the outcome of every attempt; may turn it into a failure (a reply that finds no room). */
  inspect(outcome: Outcome): Outcome;
}

/** Attempts until the event is taken, may not be retried, or the retries are used up; the last outcome. */
export async function tryDelivery(event: BrokerEvent, url: URL, options: TryOptions): Promise<Outcome> {
  const { delivery, signal } = options;
  const timeoutMs = delivery.timeoutMs ?? options.defaultTimeoutMs;
  for (let retries = 0; ; retries += 1) {
    const outcome = await options.slots.run(async () =>
      options.inspect(await attempt(event, url, timeoutMs, signal)),
    );
    if (outcome.kind === 'done' || !outcome.retry || retries >= delivery.retry || signal.aborted)
      return outcome;
    const wait = backoffMs(delivery, retries, options.backoffCapMs);
    // An aborted pause returns after one more attempt, which the same signal cuts short.
    await pause(wait, signal);
  }
}
