import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { yieldToEventLoop } from '#shared/base/async';
import type { Store } from '#shared/kubernetes/storage';
import type { Admission } from '../admission/chain.ts';
import type { User } from '../authentication/user/user.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import type { Representation } from '../codec/negotiate.ts';
import type { FairUse } from '../fairness/limits.ts';
import type { IncomingRequest } from '../http/connection.ts';
import { type Connection, connectionOf } from '../http/connection.ts';
import type { KindDefinition } from '../kinds/definition.ts';
import type { Quota } from '../quota/quota.ts';
import type { RequestInfo, ResourceRequestInfo } from './request-info.ts';

/**
 * A request from its arrival until the last byte of its response, shared by handlers, audit and metrics. Fields are undefined until the
 * filter that sets them has run.
 */
export class ApiRequest {
  readonly server: ServerContext;
  readonly raw: IncomingRequest;
  readonly url: URL;
  /** The raw path and query. `url` is normalized: it has no dot segments. */
  readonly target: string;
  /** Undefined for in-process calls. */
  readonly connection: Connection | undefined;
  /** The Audit-ID header if it is valid, otherwise a new ID. */
  readonly auditId: string;
  readonly receivedAt: Date;
  /** Time of performance.now() in milliseconds. */
  readonly startedAt = performance.now();
  /** Sent as `Warning: 299` headers, also with errors. */
  readonly warnings: string[] = [];

  info: RequestInfo | undefined;
  /** The authenticated user; differs from `user` with impersonation. */
  authenticatedUser: User | undefined;
  /** The effective user, after impersonation. */
  user: User | undefined;
  /** The authorizer's decision about `info`. */
  decision: { allowed: boolean; reason: string } | undefined;

  /** The served kind that `info` names, if any. */
  definition: KindDefinition | undefined;
  /** '' for cluster-scoped kinds and across all namespaces. */
  namespace = '';
  /** The negotiated representation of the response. */
  format: Representation | undefined;

  /** Metadata of the object that a create has stored. */
  created: { name: string; uid?: string } | undefined;
  /** The request's share of the limits of its user. */
  fairUse: FairUse | undefined;
  /** True: the connection closes after the response. */
  closesConnection = false;
  /** True for a watch and a followed text, which are excluded from latency metrics. */
  isLongRunning = false;
  /** The body, once read. */
  body: Uint8Array | undefined;
  /** Size of the stored object that the request changes. */
  objectBytes = 0;
  /** Bytes that the request has charged to the write rate of its namespace. */
  chargedBytes = 0;

  readonly #outgoing: RequestEnv['outgoing'] | undefined;
  readonly #bytesWritten: (() => number) | undefined;
  readonly #callbacks: (() => void)[] = [];
  #isOver: boolean;

  /** @param env the connection of the request; undefined, or without fields, for in-process calls */
  constructor(server: ServerContext, raw: IncomingRequest, env: Partial<RequestEnv> = {}) {
    this.server = server;
    this.raw = raw;
    this.url = new URL(raw.url);
    this.target = env.incoming?.url ?? this.url.pathname;
    this.connection = connectionOf(env);
    const auditId = raw.headers.get('audit-id') ?? '';
    this.auditId = /^[\x21-\x7e]{1,64}$/.test(auditId) ? auditId : randomUUID();
    this.receivedAt = server.now();
    this.#outgoing = env.outgoing;
    this.#bytesWritten = env.bytesWritten ?? bytesSince(env.incoming?.socket);
    this.#isOver = this.#outgoing?.closed === true || this.#outgoing?.destroyed === true;
    this.#outgoing?.once('close', () => this.end());
  }

  get query(): URLSearchParams {
    return this.url.searchParams;
  }

  /** False for in-process calls, whose caller must call `end`. */
  get hasSocket(): boolean {
    return this.#outgoing !== undefined;
  }

  /** Bytes of the response written to the socket; undefined without a socket. */
  get bytesWritten(): number | undefined {
    return this.#bytesWritten?.();
  }

  /** Calls `callback` when the response is written or its client disconnects. */
  onEnd(callback: () => void): void {
    if (this.#isOver) callback();
    else this.#callbacks.push(callback);
  }

  end(): void {
    this.#isOver = true;
    for (const callback of this.#callbacks.splice(0)) callback();
  }
}

/** The connection of a request, as @hono/node-server describes it. */
export interface RequestEnv {
  incoming: Pick<IncomingMessage, 'url' | 'rawHeaders' | 'socket'>;
  /** `close` is emitted when the response is written or the client disconnects. */
  outgoing: Pick<ServerResponse, 'closed' | 'destroyed'> & {
    once(event: 'close', listener: () => void): unknown;
  };
  /** Bytes of the response so far, where the connection carries others at the same time. */
  bytesWritten?: (() => number) | undefined;
}

/** Requests of an HTTP/1.1 connection are sequential: bytes written from now on belong to the response, including its head. */
function bytesSince(socket: Socket | undefined): (() => number) | undefined {
  const before = socket?.bytesWritten ?? 0;
  return socket && (() => socket.bytesWritten - before);
}

/** An authorized request to a served kind. */
export interface ResourceRequest extends ApiRequest {
  info: ResourceRequestInfo;
  user: User;
  definition: KindDefinition;
  format: Representation;
}

/** Handling less than this takes a few milliseconds in total. */
const largeBytes = 64 * 1024;

/** Yields to the event loop between two steps on a large body or object, each of which may take tens of milliseconds. */
export async function yieldIfLarge({
  body,
  objectBytes,
}: Pick<ApiRequest, 'body' | 'objectBytes'>): Promise<void> {
  if ((body?.byteLength ?? 0) + objectBytes >= largeBytes) await yieldToEventLoop();
}

/** Timeout of a request. Watches and their initial list are exempt. */
const requestTimeoutMs = 60_000;

/** Returns a signal that aborts when the client disconnects or the timeout expires, which `?timeout=` lowers; not on shutdown. */
export function deadline({ raw, query }: ApiRequest): AbortSignal {
  const seconds = /^([0-9]{1,6})s?$/.exec(query.get('timeout') ?? '')?.[1];
  const timeoutMs = Math.min(requestTimeoutMs, Number(seconds) * 1000 || requestTimeoutMs);
  if (timeoutMs !== requestTimeoutMs) return AbortSignal.any([raw.signal, AbortSignal.timeout(timeoutMs)]);
  const control = new AbortController();
  const leave = () => control.abort(raw.signal.reason);
  raw.signal.addEventListener('abort', leave, { once: true });
  if (raw.signal.aborted) leave();
  currentGroup().push(new WeakRef(control));
  return control.signal;
}

/** Milliseconds by which a deadline may be late: all requests that begin within this time share a timer. */
const timerSlack = 1000;
type DeadlineGroup = WeakRef<AbortController>[];
let latest: { group: DeadlineGroup; until: number } | undefined;

/**
 * Returns the requests that share a timer with the current request. A timer and a composite signal per request would outlive the request by
 * a minute, and thousands of them would cost more than the requests.
 */
function currentGroup(): DeadlineGroup {
  const now = performance.now();
  if (latest && now < latest.until) return latest.group;
  const group: DeadlineGroup = [];
  latest = { group, until: now + timerSlack };
  const expire = () => {
    const reason = new DOMException('The request exceeded its deadline', 'TimeoutError');
    for (const member of group) member.deref()?.abort(reason);
  };
  setTimeout(expire, requestTimeoutMs + timerSlack).unref();
  return group;
}

/** The context shared by all requests to a server. */
export interface ServerContext {
  kinds: readonly KindDefinition[];
  store: Store;
  admission: Admission;
  /** Undefined: unlimited. */
  quota: Quota | undefined;
  /** Authorizes impersonation and creation through apply, beside the request itself. */
  authorize: Authorizer;
  now: () => Date;
  /** Aborted when the server shuts down: watches end, requests finish. */
  closing: AbortSignal;
  /** Milliseconds over which watches end after `closing`, at random times. */
  spreadMs: () => number;
  /** Called for every event sent to a watch, with its size in bytes. */
  onWatchEvent?: ((definition: KindDefinition, bytes: number) => void) | undefined;
  /** Logs errors that a response cannot report, because it has begun or must not expose them. */
  log: (message: string, caught: unknown) => void;
}
