import type { ApiRequest } from './api-request.ts';

/** Milliseconds a request may take; watches and their initial list are exempt. */
const requestDeadline = 60_000;

/** Ends when the client leaves or the deadline (lowered by `?timeout=`, seconds or `30s`) passes; a shutdown lets it finish. */
export function deadline({ raw, query }: ApiRequest): AbortSignal {
  const asked = /^([0-9]{1,6})s?$/.exec(query.get('timeout') ?? '')?.[1];
  const milliseconds = Math.min(requestDeadline, Number(asked) * 1000 || requestDeadline);
  if (milliseconds !== requestDeadline)
    return AbortSignal.any([raw.signal, AbortSignal.timeout(milliseconds)]);
  const control = new AbortController();
  const leave = () => control.abort(raw.signal.reason);
  raw.signal.addEventListener('abort', leave, { once: true });
  if (raw.signal.aborted) leave();
  currentGroup().push(new WeakRef(control));
  return control.signal;
}

/** How much later than its deadline a request may end, so that one timer serves all that begin in this time. */
const coarseness = 1000;
type Group = WeakRef<AbortController>[];
let latest: { group: Group; until: number } | undefined;

/**
 * The requests that begin in this second: they end together when they have had their time. Composite signals and timers of
 * their own would outlive each request by a minute, and looking after thousands of them would cost more than what they
 * guard.
 */
function currentGroup(): Group {
  const now = performance.now();
  if (latest && now < latest.until) return latest.group;
  const group: Group = [];
  latest = { group, until: now + coarseness };
  const late = () => {
    const reason = new DOMException('The request took longer than it may', 'TimeoutError');
    for (const member of group) member.deref()?.abort(reason);
  };
  setTimeout(late, requestDeadline + coarseness).unref();
  return group;
}
