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
 * One request from its arrival until the last byte of its response. Handlers, audit and metrics all receive this object;
 * a field that is undefined is not known yet.
 */
export class ApiRequest {
  readonly server: ServerContext;
  readonly raw: IncomingRequest;
  readonly url: URL;
  /** The path and query as they were sent: `url` has no dot segments any more. */
  readonly target: string;
  /** Undefined where the request did not come over a socket. */
  readonly connection: Connection | undefined;
  /** The caller's own Audit-ID where it sent a usable one. */
  readonly auditId: string;
  readonly receivedAt: Date;
  /** Milliseconds of performance.now(). */
  readonly startedAt = performance.now();
  /** Become `Warning: 299` headers, also of a failure. */
  readonly warnings: string[] = [];

  info: RequestInfo | undefined;
  /** The caller. With impersonation `user` is another one. */
  authenticatedUser: User | undefined;
  /** The user whose rights count. */
  user: User | undefined;
  /** The authorizer's answer to `info`. */
  decision: { allowed: boolean; reason: string } | undefined;

  /** The kind that `info` names, where one is served. */
  definition: KindDefinition | undefined;
  /** Namespace of the objects: '' for cluster-scoped kinds and across all namespaces. */
  namespace = '';
  /** The form of the response. */
  format: Representation | undefined;

  /** Metadata of the object that a create has made, where the path does not name it. */
  created: { name: string; uid?: string } | undefined;
  /** The limits of this request, once its user is known. */
  use: FairUse | undefined;
  /** The connection is closed after the response. */
  closesConnection = false;
  /** A watch, or a text that is followed: how long it takes says nothing. */
  isLongRunning = false;
  /** Set once the body has been read. */
  body: Uint8Array | undefined;
  /** Bytes of the stored object that this request changes. */
  objectBytes = 0;
  /** Bytes of this request that count against the write rate of its namespace. */
  chargedBytes = 0;

  readonly #outgoing: ServerResponse | undefined;
  readonly #socket: Socket | undefined;
  readonly #writtenBefore: number;
  readonly #callbacks: (() => void)[] = [];
  #isOver: boolean;

  /** @param env as @hono/node-server gives it, or nothing */
  constructor(server: ServerContext, raw: IncomingRequest, env?: unknown) {
    this.server = server;
    this.raw = raw;
    this.url = new URL(raw.url);
    this.target = (env as { incoming?: IncomingMessage } | undefined)?.incoming?.url ?? this.url.pathname;
    this.connection = connectionOf(env);
    const auditId = raw.headers.get('audit-id') ?? '';
    this.auditId = /^[\x21-\x7e]{1,64}$/.test(auditId) ? auditId : randomUUID();
    this.receivedAt = server.now();
    this.#outgoing = (env as { outgoing?: ServerResponse } | undefined)?.outgoing;
    this.#socket = this.#outgoing?.socket ?? undefined;
    this.#writtenBefore = this.#socket?.bytesWritten ?? 0;
    this.#isOver = this.#outgoing?.closed === true || this.#outgoing?.destroyed === true;
    this.#outgoing?.once('close', () => this.end());
  }

  get query(): URLSearchParams {
    return this.url.searchParams;
  }

  /** False where no socket carries the response: then the caller must call `end`. */
  get endsByItself(): boolean {
    return this.#outgoing !== undefined;
  }

  /**
   * Bytes of the response that were written to the socket, its head included; undefined without a socket. Requests of one
   * connection follow one another, so what was written since the request came is its response.
   */
  get bytesWritten(): number | undefined {
    return this.#socket && this.#socket.bytesWritten - this.#writtenBefore;
  }

  /** Calls `callback` when the response is written or its client has left. */
  onEnd(callback: () => void): void {
    if (this.#isOver) callback();
    else this.#callbacks.push(callback);
  }

  end(): void {
    this.#isOver = true;
    for (const callback of this.#callbacks.splice(0)) callback();
  }
}

/** An authenticated and authorized request to a kind that is served. */
export interface ResourceRequest extends ApiRequest {
  info: ResourceRequestInfo;
  user: User;
  definition: KindDefinition;
  format: Representation;
}

/** A request that works on less takes a few ms in all. */
const longBytes = 64 * 1024;

/** Lets other requests run between two steps of one that works on a large body or object: each of them may take tens of ms. */
export async function betweenSteps({
  body,
  objectBytes,
}: Pick<ApiRequest, 'body' | 'objectBytes'>): Promise<void> {
  if ((body?.byteLength ?? 0) + objectBytes >= longBytes) await yieldToEventLoop();
}

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

/** The context that all requests to one server share. */
export interface ServerContext {
  kinds: readonly KindDefinition[];
  store: Store;
  admission: Admission;
  /** Undefined where namespaces may hold whatever fits. */
  quota: Quota | undefined;
  /** For rights beyond the one that the request itself needs. */
  authorize: Authorizer;
  now: () => Date;
  /** Aborted when the server shuts down: watches end, requests finish. */
  closing: AbortSignal;
  /** Milliseconds over which watches end after `closing`. */
  spreadMs: () => number;
  /** Called for every event that is sent to a watch, with its size in bytes. */
  onWatchEvent?: ((definition: KindDefinition, bytes: number) => void) | undefined;
  /** Logs failures that no response can report, because it has begun already or must not show them. */
  log: (message: string, caught: unknown) => void;
}
