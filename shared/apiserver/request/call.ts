import type { Store } from '#shared/storage';
import type { Admission } from '../admission/chain.ts';
import type { User } from '../authentication/user.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import type { Representation } from '../codec/negotiate.ts';
import type { KindDefinition } from '../kinds/definition.ts';
import type { Target } from './request-info.ts';

/** What every handler of the server shares. */
export interface Server {
  kinds: readonly KindDefinition[];
  store: Store;
  admission: Admission;
  /** For rights beyond the one that the request itself needs. */
  authorize: Authorizer;
  now: () => Date;
  /** Aborted when the server shuts down: watches end, requests finish. */
  closing: AbortSignal;
  /** Milliseconds over which watches end after `closing`. */
  spreadMs: () => number;
  /** Told of every event that goes out to a watch, with its size in bytes. */
  watched?: ((definition: KindDefinition, bytes: number) => void) | undefined;
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

/** Ends when the client leaves or the deadline (lowered by `?timeout=`, seconds or `30s`) passes; a shutdown lets it finish. */
export function deadline(call: Call): AbortSignal {
  const { request, query } = call;
  const asked = /^([0-9]{1,6})s?$/.exec(query.get('timeout') ?? '')?.[1];
  const milliseconds = Math.min(requestDeadline, Number(asked) * 1000 || requestDeadline);
  if (milliseconds !== requestDeadline)
    return AbortSignal.any([request.signal, AbortSignal.timeout(milliseconds)]);
  const control = new AbortController();
  const leave = () => control.abort(request.signal.reason);
  request.signal.addEventListener('abort', leave, { once: true });
  if (request.signal.aborted) leave();
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

/** Lets others run: long lists are made in chunks with this in between. */
export function breathe(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
