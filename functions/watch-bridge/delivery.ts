import { ArcError } from '#shared/errors';
import { startDeadline } from '#shared/kube';
import type { Outcome } from './queue.ts';

export interface HttpMessage {
  headers: Record<string, string>;
  body: string;
}

/** Broker and Trigger answers that a later try can change (knative/specs data-plane); the rest of 4xx never will. */
const transientClientErrors: ReadonlySet<number> = new Set([404, 408, 409, 425, 429]);
const deadlineMs = 60_000;

/**
 * POSTs one CloudEvent to the broker and says what became of it. Never rejects: no answer is a transient outcome. The
 * deadline is long because a broker may answer only after every subscriber has.
 */
export function createDelivery(sink: URL, signal: AbortSignal): (message: HttpMessage) => Promise<Outcome> {
  return async ({ headers, body }) => {
    const deadline = startDeadline(deadlineMs, 'the broker', signal);
    try {
      const response = await fetch(sink, {
        method: 'POST',
        headers,
        body,
        redirect: 'manual',
        signal: deadline.signal,
      });
      // The body says nothing that is needed, but has to be read for the connection to be used again.
      await response.arrayBuffer();
      return classify(response.status, response.headers.get('retry-after'));
    } catch (caught) {
      return { result: 'transient', reason: describe(caught) };
    } finally {
      deadline.end();
    }
  };
}

/** What an HTTP status of the broker means for the wake. */
export function classify(status: number, retryAfter: string | null = null): Outcome {
  if (status >= 200 && status < 300) return { result: 'delivered' };
  const reason = `the broker answered ${status}`;
  if (status < 500 && !transientClientErrors.has(status)) return { result: 'refused', reason };
  const seconds = retryAfter === null ? Number.NaN : Number(retryAfter);
  if (!Number.isFinite(seconds) || seconds <= 0) return { result: 'transient', reason };
  return { result: 'transient', reason, retryAfterMs: Math.min(seconds, 300) * 1000 };
}

/** fetch hides why it failed in `cause`. */
function describe(caught: unknown): string {
  const error = ArcError.from(caught, 'ServiceUnavailable');
  const inner = caught instanceof Error && caught.cause instanceof Error ? `: ${caught.cause.message}` : '';
  return `the broker did not answer: ${error.message}${inner}`;
}
