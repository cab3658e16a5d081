import { isIP } from 'node:net';
import type { Wake } from '#shared/runtime';

const longestAnswer = 300;

/**
 * The function behind the URL in a dead letter: the host is its Service. A broker whose filter has another name than usual gives the
 * filter's URL, with the Trigger in its path (`/triggers/<namespace>/<name>/<uid>`); Triggers are called as their functions.
 */
export function refuserOf(destination: string | undefined): string {
  if (destination === undefined || !URL.canParse(destination)) return 'unknown';
  const { hostname, pathname, host } = new URL(destination);
  const trigger = /^\/triggers\/[^/]+\/([^/]+)\//.exec(pathname)?.[1];
  if (trigger !== undefined) return trigger;
  return isIP(hostname.replace(/^\[|\]$/g, '')) ? host : (hostname.split('.')[0] ?? hostname);
}

/** What a person reads in `kubectl describe`: who refused what, why, and what happens next. */
export function explain(by: string, { reason, failure }: Wake): string {
  const status = failure?.status === undefined ? 'gave no answer' : `answered ${failure.status}`;
  const why = failure?.body === undefined ? '' : `: ${messageIn(failure.body)}`;
  // Knative's multi-tenant broker says nothing about an answer that came too late or was none.
  const what = failure === undefined ? 'gave no answer that counts' : `${status}${why}`;
  const who = failure === undefined ? 'a function' : `function ${by}`;
  return `${who} was woken (${reason}) again and again and ${what}. The next resync wakes it anew.`;
}

/** Our functions answer `{"reason","message"}`; a proxy between may answer anything. */
function messageIn(body: string): string {
  const text = messageOf(body) ?? body;
  const line = text
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .replace(/\.$/, '');
  return line.length > longestAnswer ? `${line.slice(0, longestAnswer)}…` : line;
}

function messageOf(body: string): string | undefined {
  try {
    const parsed: unknown = JSON.parse(body);
    const isOurs = typeof parsed === 'object' && parsed !== null && 'message' in parsed;
    return isOurs && typeof parsed.message === 'string' ? parsed.message : undefined;
  } catch {
    // Not JSON, or JSON that was cut: it stands as it is.
    return undefined;
  }
}
