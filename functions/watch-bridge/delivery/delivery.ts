import { startDeadline } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import type { Outcome } from './queue.ts';
import { createPost, type Sink } from './sink.ts';

export interface HttpMessage {
  headers: Record<string, string>;
  body: string;
}

/**
 * 4xx answers that a retry may overcome (knative/specs data-plane). 401 and 403 concern the sender, not the event: a token is
 * renewed, an EventPolicy takes effect.
 */
const transientClientErrors: ReadonlySet<number> = new Set([401, 403, 404, 408, 409, 425, 429]);
const deadlineMs = 60_000;

/**
 * Returns a function that attempts one delivery: it POSTs a CloudEvent to the broker and resolves with the outcome. Never rejects: a
 * missing answer is a transient outcome. The deadline is long because a broker may answer only after all of its subscribers.
 *
 * @param maySend called just before a request is written; false while another process may be sending
 */
export function createDelivery(
  sink: Sink,
  signal: AbortSignal,
  maySend?: () => boolean,
): (message: HttpMessage) => Promise<Outcome> {
  const post = createPost(sink, maySend);
  return async ({ headers, body }) => {
    const deadline = startDeadline(deadlineMs, 'the broker', signal);
    try {
      const answer = await post(headers, body, deadline.signal);
      if (answer === undefined) return { result: 'transient', reason: 'the Lease is not held' };
      return classify(answer.status, answer.retryAfter);
    } catch (caught) {
      return { result: 'transient', reason: describe(caught) };
    } finally {
      deadline.end();
    }
  };
}

/** Classifies an HTTP status of the broker. */
export function classify(status: number, retryAfter?: string): Outcome {
  if (status >= 200 && status < 300) return { result: 'delivered' };
  const reason = `the broker answered ${status}`;
  if (status < 500 && !transientClientErrors.has(status)) return { result: 'refused', reason };
  const seconds = Number(retryAfter);
  if (!Number.isFinite(seconds) || seconds <= 0) return { result: 'transient', reason };
  return { result: 'transient', reason, retryAfterMs: Math.min(seconds, 300) * 1000 };
}

/** The reason of an abort is in `cause`. */
function describe(caught: unknown): string {
  const error = ArcError.from(caught, 'ServiceUnavailable');
  const inner = caught instanceof Error && caught.cause instanceof Error ? `: ${caught.cause.message}` : '';
  return `the broker did not answer: ${error.message}${inner}`;
}
