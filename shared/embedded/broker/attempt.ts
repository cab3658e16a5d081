import { setTimeout as sleep } from 'node:timers/promises';
import { ArcError } from '#shared/errors';
import { answerLimit, judgeAnswer, type Outcome, readBounded } from './answer.ts';
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
  // Made by hand and not of AbortSignal.any and .timeout: timer and listener go as soon as the answer is there.
  const control = new AbortController();
  const end = () => control.abort(signal.reason);
  const timer = setTimeout(
    () => control.abort(new ArcError('Timeout', `no answer within ${timeoutMs} ms`)),
    timeoutMs,
  );
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body: event.data ? new Uint8Array(event.data) : null,
      // A redirect is a failure that is not retried, not a place to send users' events to.
      redirect: 'manual',
      signal: control.signal,
    });
    return judgeAnswer(response.status, response.headers, await readBounded(response.body, answerLimit));
  } catch (caught) {
    const error = ArcError.from(caught);
    const reason =
      error.cause instanceof Error && error.cause.cause instanceof Error ? error.cause.cause : error;
    return { kind: 'failed', retry: true, status: undefined, body: Buffer.from(reason.message) };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
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
  const wait =
    delivery.backoffPolicy === 'linear'
      ? delivery.backoffDelayMs * n
      : delivery.backoffDelayMs * 2 ** Math.min(n, 40);
  return Math.min(wait, capMs);
}

export interface TryOptions {
  delivery: Delivery;
  /** Of one attempt where the delivery names no timeout. */
  defaultTimeoutMs: number;
  backoffCapMs: number;
  signal: AbortSignal;
  /** Runs one attempt when there is room for it; a retry that waits takes no room. */
  slot<T>(work: () => Promise<T>): Promise<T>;
  /** Runs on the outcome of every attempt; may turn it into a failure (a reply that finds no room). */
  inspect(outcome: Outcome): Outcome;
}

/** Attempts until the event is taken, may not be retried, or the retries are used up; the last outcome. */
export async function tryDelivery(event: BrokerEvent, url: URL, options: TryOptions): Promise<Outcome> {
  const { delivery, signal } = options;
  const timeoutMs = delivery.timeoutMs ?? options.defaultTimeoutMs;
  for (let retries = 0; ; retries += 1) {
    const outcome = await options.slot(async () =>
      options.inspect(await attempt(event, url, timeoutMs, signal)),
    );
    if (outcome.kind === 'done' || !outcome.retry || retries >= delivery.retry || signal.aborted)
      return outcome;
    const wait = backoffMs(delivery, retries, options.backoffCapMs);
    await sleep(wait, undefined, { signal }).catch((caught: unknown) => {
      // Told to end: the loop returns after one attempt that the same signal cuts short.
      if (!signal.aborted) throw caught;
    });
  }
}
