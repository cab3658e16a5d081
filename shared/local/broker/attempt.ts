import http from 'node:http';
import https from 'node:https';
import { doubled, endOnAbort, failWhenCut, pause, type Semaphore, startDeadline } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import { answerLimit, classifyAnswer, type Outcome, readBounded } from './answer.ts';
import { type BrokerEvent, eventHeaders, ownerOf } from './event.ts';
import type { Delivery } from './trigger.ts';

/** An idle connection is closed after this time. */
const keepAlive = { keepAlive: true, timeout: 60_000 } as const;
const agents = { plain: new http.Agent(keepAlive), secure: new https.Agent(keepAlive) };

/** The POST of an event in binary mode: headers by their names in lower case. */
export interface Post {
  headers: Record<string, string>;
  body: Buffer | undefined;
}

/** The answer to a POST, read whole. */
export interface PostAnswer {
  status: number;
  headers: http.IncomingHttpHeaders;
  body: Buffer;
}

/** Rejects where there is no answer, and when `signal` is aborted. */
export type SendPost = (url: URL, post: Post, signal: AbortSignal) => Promise<PostAnswer>;

/** Follows no redirect: it is a failure that is not retried, not a place to send users' events to. */
export const sendOverHttp: SendPost = async (url, { headers, body }, signal) => {
  const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
  const isSecure = url.protocol === 'https:';
  const agent = isSecure ? agents.secure : agents.plain;
  const sent = (isSecure ? https : http).request(url, { method: 'POST', headers, agent });
  sent.on('error', reject).on('response', resolve);
  failWhenCut(sent, reject);
  endOnAbort(sent, signal);
  sent.end(body);
  const answer = await promise;
  try {
    const read = await readBounded(answer, answerLimit);
    return { status: answer.statusCode ?? 500, headers: answer.headers, body: read };
  } catch (caught) {
    answer.destroy();
    throw caught;
  }
};

/** One POST of the event in binary mode. Never rejects: no answer in time is an outcome too. */
async function attempt(
  event: BrokerEvent,
  url: URL,
  timeoutMs: number,
  { send = sendOverHttp, signal }: Pick<TryOptions, 'send' | 'signal'>,
): Promise<Outcome> {
  const deadline = startDeadline(timeoutMs, 'the subscriber', signal);
  const { data: body } = event;
  const length = { prefer: 'reply', 'content-length': String(body?.length ?? 0) };
  try {
    const answer = await send(url, { headers: { ...eventHeaders(event), ...length }, body }, deadline.signal);
    return classifyAnswer(answer.status, answer.headers, answer.body);
  } catch (caught) {
    const error = ArcError.from(deadline.signal.aborted ? deadline.signal.reason : caught);
    return { kind: 'failed', retry: true, status: undefined, body: Buffer.from(error.message) };
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
  /** Default: over HTTP. */
  send?: SendPost | undefined;
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
    const one = async () => options.inspect(await attempt(event, url, timeoutMs, options));
    const outcome = await options.slots.run(one, undefined, ownerOf(event));
    if (outcome.kind === 'done' || !outcome.retry || retries >= delivery.retry || signal.aborted)
      return outcome;
    const wait = backoffMs(delivery, retries, options.backoffCapMs);
    // An aborted pause returns after one more attempt, which the same signal cuts short.
    await pause(wait, signal);
  }
}
