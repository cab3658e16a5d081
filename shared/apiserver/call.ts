import type { Store } from '#shared/storage';
import type { AdmissionPlugin, Authorizer, KindDefinition, User } from './definition.ts';
import type { Representation } from './representation/index.ts';
import type { Target } from './target.ts';

/** What every handler of the server shares. */
export interface Server {
  kinds: readonly KindDefinition[];
  store: Store;
  admission: readonly AdmissionPlugin[];
  /** For rights beyond the one that the request itself needs. */
  authorize: Authorizer;
  now: () => Date;
  /** Aborted when the server shuts down. */
  closing: AbortSignal;
  /** Takes what went wrong behind a response that had already begun, or that must not show it. */
  log: (message: string, caught: unknown) => void;
}

/** One authenticated and authorized request to one kind. */
export interface Call {
  server: Server;
  request: Request;
  query: URLSearchParams;
  user: User;
  definition: KindDefinition;
  target: Target;
  /** '' for cluster-scoped kinds and for all namespaces. */
  namespace: string;
  format: Representation;
  /** Become `Warning: 299` headers. */
  warnings: string[];
}

/** Milliseconds a request may take; watches and their initial list are exempt. */
const requestDeadline = 60_000;

/** Ends when the client leaves, the server closes or the deadline (lowered by `?timeout=`, seconds or `30s`) passes. */
export function deadline(call: Call): AbortSignal {
  const { request, server, query } = call;
  const asked = /^([0-9]{1,6})s?$/.exec(query.get('timeout') ?? '')?.[1];
  const milliseconds = Math.min(requestDeadline, Number(asked) * 1000 || requestDeadline);
  if (milliseconds !== requestDeadline)
    return AbortSignal.any([request.signal, server.closing, AbortSignal.timeout(milliseconds)]);
  const control = new AbortController();
  const leave = () => control.abort(request.signal.reason);
  request.signal.addEventListener('abort', leave, { once: true });
  if (request.signal.aborted) leave();
  if (server.closing.aborted) control.abort(server.closing.reason);
  currentGroup(server.closing).push(new WeakRef(control));
  return control.signal;
}

/** How much later than its deadline a request may end, so that one timer serves all that begin in this time. */
const coarseness = 1000;
type Group = WeakRef<AbortController>[];
const groups = new WeakMap<AbortSignal, { group: Group; until: number }>();

/**
 * The requests that begin in this second: they end together, with `closing` or when they have had their time. Composite
 * signals and timers of their own would outlive each request by a minute, and looking after thousands of them would cost more
 * than what they guard.
 */
function currentGroup(closing: AbortSignal): Group {
  const now = performance.now();
  const current = groups.get(closing);
  if (current && now < current.until) return current.group;
  const group: Group = [];
  groups.set(closing, { group, until: now + coarseness });
  const end = (reason: unknown) => {
    clearTimeout(timer);
    closing.removeEventListener('abort', close);
    for (const member of group) member.deref()?.abort(reason);
  };
  const close = () => end(closing.reason);
  const late = () => end(new DOMException('The request took longer than it may', 'TimeoutError'));
  const timer = setTimeout(late, requestDeadline + coarseness).unref();
  closing.addEventListener('abort', close, { once: true });
  return group;
}

/** Lets others run: long lists are made in chunks with this in between. */
export function breathe(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
