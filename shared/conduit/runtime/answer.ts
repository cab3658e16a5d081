import { type ArcError, type Code, httpStatus } from '#shared/base/errors';

// How a broker interprets an answer (knative/specs data-plane): 404, 408, 409, 429 and 5xx are retried, all
// other 4xx go to the dead letter sink at once, and a 2xx whose body is not a CloudEvent is a failure.
const deliveryStatuses: Partial<Record<Code, number>> = {
  Conflict: 409,
  AlreadyExists: 409,
  TooManyRequests: 429,
  Timeout: 503,
  ServiceUnavailable: 503,
  Expired: 503,
  Invalid: 422,
};

// In bytes. A dead letter has room for 1,024 characters of base64, and Knative's in-memory dispatcher (knative.dev/eventing v0.49.2)
// does not cut longer text: it panics with `index out of range`, and every delivery in flight is lost.
const longestBody = 700;

/** Returns the HTTP status for an error of a handler. */
export function deliveryStatus(error: ArcError): number {
  return deliveryStatuses[error.code] ?? 500;
}

/** Returns the answer after a failure: `{"reason","message"}`, short enough for a dead letter. */
export function failureAnswer(error: ArcError, status = deliveryStatus(error)): Response {
  // An error that was not thrown on purpose may contain any text, which only the log may show.
  const message = error.code === 'InternalError' ? 'internal error, see the log' : error.message;
  const wait = error.details?.retryAfterSeconds;
  return new Response(bounded(error.code, message), {
    status,
    headers: {
      'content-type': 'application/json',
      ...(wait !== undefined && { 'retry-after': String(wait) }),
    },
  });
}

/** Returns `{"reason","message"}` with the message cut until it fits. */
function bounded(reason: Code, message: string): string {
  for (let length = Math.min(message.length, longestBody); ; length = Math.floor(length * 0.9)) {
    const body = JSON.stringify({ reason, message: message.slice(0, length) });
    if (Buffer.byteLength(body) <= longestBody) return body;
  }
}

/** Returns the answer to a request that never reached the handler: a sender's mistake has a status of its own and is not retried. */
export function refusalAnswer(error: ArcError): Response {
  return failureAnswer(error, deliveryStatuses[error.code] ?? httpStatus(error.code));
}

/** Returns the answer after success: brokers take any body that is not an event for a failure. */
export function doneAnswer(): Response {
  return new Response(null, { status: 204 });
}
