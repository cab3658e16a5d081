import type { ApiRequest } from './api-request.ts';

/** Milliseconds a request may take. Watches and their initial list are exempt. */
const requestDeadline = 60_000;

/** Aborted when the client leaves or its deadline passes, which `?timeout=` lowers (seconds or `30s`); not by a shutdown. */
export function deadline({ raw, query }: ApiRequest): AbortSignal {
  const seconds = /^([0-9]{1,6})s?$/.exec(query.get('timeout') ?? '')?.[1];
  const milliseconds = Math.min(requestDeadline, Number(seconds) * 1000 || requestDeadline);
  if (milliseconds !== requestDeadline)
    return AbortSignal.any([raw.signal, AbortSignal.timeout(milliseconds)]);
  const control = new AbortController();
  const leave = () => control.abort(raw.signal.reason);
  raw.signal.addEventListener('abort', leave, { once: true });
  if (raw.signal.aborted) leave();
  currentGroup().push(new WeakRef(control));
  return control.signal;
}

/** Milliseconds by which a deadline may be late: one timer serves all requests that begin within this time. */
const timerSlack = 1000;
type Group = WeakRef<AbortController>[];
let latest: { group: Group; until: number } | undefined;

/**
 * The requests that begin in this second share a timer. A timer and a composite signal for each would outlive the request by a
 * minute, and thousands of them would cost more than the requests.
 */
function currentGroup(): Group {
  const now = performance.now();
  if (latest && now < latest.until) return latest.group;
  const group: Group = [];
  latest = { group, until: now + timerSlack };
  const expire = () => {
    const reason = new DOMException('The request exceeded its deadline', 'TimeoutError');
    for (const member of group) member.deref()?.abort(reason);
  };
  setTimeout(expire, requestDeadline + timerSlack).unref();
  return group;
}
