import { isIP } from 'node:net';
import type { StepEvent } from '#shared/conduit/runtime';

const maxAnswerLength = 300;

/**
 * The name of the function at the URL in a dead letter: the first label of the host is its Service. A multi-tenant broker gives the URL
 * of its filter instead, with the Trigger in the path (`/triggers/<namespace>/<name>/<uid>`); a Trigger has the name of its function.
 */
export function functionAt(destination: string | undefined): string {
  if (destination === undefined || !URL.canParse(destination)) return 'unknown';
  const { hostname, pathname, host } = new URL(destination);
  const trigger = /^\/triggers\/[^/]+\/([^/]+)\//.exec(pathname)?.[1];
  if (trigger !== undefined) return trigger;
  return isIP(hostname.replace(/^\[|\]$/g, '')) ? host : (hostname.split('.')[0] ?? hostname);
}

/** Returns the message of the Event: which function failed, its last answer, and what happens next. */
export function explain(by: string, { step, failure }: StepEvent): string {
  const name = failure === undefined ? 'a function' : `function ${by}`;
  return `${name} failed every delivery of the step "${step}"; ${lastAnswer(failure)}. It is tried again within a minute while it is due.`;
}

function lastAnswer(failure: StepEvent['failure']): string {
  // Knative's multi-tenant broker does not pass on an answer that was late or malformed.
  if (failure === undefined) return 'its last answer is not known';
  if (failure.status === undefined) return 'it gave no answer';
  const why = failure.body === undefined ? '' : `: ${messageIn(failure.body)}`;
  return `its last answer was ${failure.status}${why}`;
}

/** The message of an answer on one line. Our functions answer `{"reason","message"}`; a proxy may answer anything. */
function messageIn(body: string): string {
  const line = (messageField(body) ?? body)
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .replace(/\.$/, '');
  return line.length > maxAnswerLength ? `${line.slice(0, maxAnswerLength)}…` : line;
}

function messageField(body: string): string | undefined {
  try {
    const parsed: unknown = JSON.parse(body);
    const isOurs = typeof parsed === 'object' && parsed !== null && 'message' in parsed;
    return isOurs && typeof parsed.message === 'string' ? parsed.message : undefined;
  } catch {
    // Not JSON, or JSON that was cut: the caller shows the text.
    return undefined;
  }
}
