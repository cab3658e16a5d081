import { Hono } from 'hono';
import { ArcError } from '#shared/errors';
import type { Store } from '#shared/storage';
import { type Metrics, metricsContentType } from '#shared/telemetry';
import { createAdmission } from './admission/chain.ts';
import { type FindNamespace, namespaceLifecycle } from './admission/namespace-lifecycle.ts';
import type { AdmissionPlugin } from './admission/plugin.ts';
import type { AuditPolicy } from './audit/audit-policy.ts';
import { type AuditedRequest, type AuditSink, createAuditor } from './audit/auditor.ts';
import type { Authenticator, User } from './authentication/user.ts';
import { authenticateRequest } from './authentication/user.ts';
import type { Attributes, Authorizer } from './authorization/authorizer.ts';
import { isAlwaysAllowed, mustBeAllowed } from './authorization/authorizer.ts';
import { impersonate } from './authorization/impersonation.ts';
import { discoveryRoutes } from './discovery/discovery-routes.ts';
import { handleResource } from './handlers/routes.ts';
import { type HealthCheck, health } from './health.ts';
import type { KindDefinition } from './kinds/definition.ts';
import { authenticationMeasure, authorizationMeasure, type Measure } from './metrics/auth-metrics.ts';
import { type RequestMetrics, requestMetrics } from './metrics/request-metrics.ts';
import { keyPrefix } from './registry/stored-object.ts';
import type { Server } from './request/call.ts';
import type { Exchange } from './request/exchange.ts';
import { beginHandling, type Handling, isServed } from './request/handling.ts';
import { createActivity, defaultLimits, kindOf, type Limits } from './request/max-in-flight.ts';
import { attributesOf, parseTarget, verbOf } from './request/request-info.ts';
import { isOurs, respondError } from './response/respond.ts';

/** The Kubernetes release whose API conventions are followed; kubectl judges version skew by it. */
const followed = 'v1.34.0';

/** What `createApiServer` needs. */
export interface ApiServerOptions {
  kinds: readonly KindDefinition[];
  store: Store;
  authenticate: Authenticator;
  authorize: Authorizer;
  /** Finds namespaces that are not among `kinds`: an aggregated server asks the cluster. */
  findNamespace?: FindNamespace;
  /** Run in this order, behind the namespace lifecycle. */
  admission?: readonly AdmissionPlugin[];
  /** The gitVersion that clients see: a semantic version. */
  version?: string;
  /** Takes failures of the server itself (5xx, broken watches); pino's `error` fits through a closure. */
  log?: (message: string, caught: unknown) => void;
  now?: () => Date;
  /** Requests under way at a time; default 400 that read and 200 that write. Watches and health checks do not count. */
  limits?: Limits;
  /** Where requests are counted; also serves /metrics from it. */
  metrics?: Metrics;
  /** What the store is called among the health checks; default `store`. */
  storeName?: string;
  /** Further health checks, and what /readyz?verbose tells without failing. */
  checks?: readonly HealthCheck[];
  notices?: () => readonly string[];
  /** What of each request is recorded, and where to. */
  audit?: { policy: AuditPolicy; write: AuditSink };
}

export interface ApiServer {
  app: Hono;
  /** Makes /readyz fail; everything is served as before. */
  drain(): void;
  /**
   * Lets requests in flight finish and ends watches between two lines, spread over `spreadMs` so that their clients do not
   * come back all at once. Resolves when all have ended; the store stays open.
   */
  close(how?: { spreadMs?: number }): Promise<void>;
}

/**
 * Serves the Kubernetes API for the kinds given. Every request is authenticated, authorized and answered: failures
 * are Status bodies, unknown resources a plain 404, and nothing thrown by a handler leaves it.
 */
export function createApiServer(options: ApiServerOptions): ApiServer {
  const { kinds, store, authenticate, authorize } = options;
  const closing = new AbortController();
  let draining = false;
  let spreadMs = 0;
  const lifecycle = namespaceLifecycle(kinds, store, options.findNamespace);
  const server: Server = {
    kinds,
    store,
    admission: createAdmission(
      [...(lifecycle ? [lifecycle] : []), ...(options.admission ?? [])],
      options.metrics,
    ),
    authorize,
    now: options.now ?? (() => new Date()),
    closing: closing.signal,
    spreadMs: () => spreadMs,
    log: options.log ?? (() => undefined),
  };
  const discovery = discoveryRoutes(kinds, { version: options.version ?? followed, now: server.now });
  discovery.onError((caught) => {
    throw caught;
  });

  const checks: HealthCheck[] = [
    { name: 'ping', check: () => undefined },
    { name: options.storeName ?? 'store', check: async () => void (await store.revision()) },
    { name: 'watch-cache', readyOnly: true, check: () => mustBeLoaded(store) },
    ...(options.checks ?? []),
    { name: 'shutdown', readyOnly: true, check: () => mustNot(draining) },
  ];
  const activity = createActivity(options.limits ?? defaultLimits);
  const { metrics, audit } = options;
  const counted = metrics && requestMetrics(metrics, activity);
  const authenticating: Measure<User> = metrics ? authenticationMeasure(metrics) : unmeasured;
  const authorizing: Measure<void> = metrics ? authorizationMeasure(metrics) : unmeasured;
  server.watched = counted?.event;
  const auditor = audit && createAuditor(audit.policy, audit.write, server.now);

  async function answer(handling: Handling): Promise<Response> {
    const { exchange } = handling;
    const { request, url, connection } = exchange;
    exchange.asking = await authenticating(() => authenticateRequest(authenticate, request, connection));
    exchange.user = exchange.asking;
    const target = parseTarget(url.pathname);
    const verb = target ? verbOf(request.method, target, url.searchParams) : request.method.toLowerCase();
    const attributes: Attributes = target
      ? attributesOf(target, verb, url.searchParams)
      : { resource: false, verb, path: url.pathname };
    exchange.attributes = attributes;
    handling.atEnd(activity.begin(kindOf(verb), isAlwaysAllowed(exchange.user, attributes)));
    if (counted && target && verb === 'watch') handling.atEnd(counted.watching(exchange));
    exchange.user = await impersonate(authorize, exchange.user, request, connection);
    handling.audited = auditor?.begin(exchange);
    const { user } = exchange;
    await authorizing(() => decide(authorize, exchange, user, attributes));
    if (!target) return answerPath(request, url);
    const response = await handleResource(server, request, url, user, target, verb, handling.warnings);
    if (verb === 'watch' && response?.ok) handling.audited?.started(response.status);
    return response ?? pageNotFound();
  }

  async function answerPath(request: Request, url: URL): Promise<Response> {
    const probe = await health(url, { checks, notices: options.notices, log: server.log });
    if (probe) return probe;
    if (metrics && counted && url.pathname === '/metrics') return exposition(server, metrics, counted);
    const found = await discovery.fetch(request);
    return found.status === 404 ? pageNotFound() : found;
  }

  /** Records the outcome: of a watch when it is over, as the watch itself is the response. */
  function finish(handling: Handling, audited: AuditedRequest, response: Response, failure: unknown): void {
    if (failure !== undefined && !(failure instanceof ArcError)) {
      audited.panicked();
      return;
    }
    const record = () =>
      audited
        .complete(response, failure)
        .catch((caught: unknown) => server.log('a request could not be recorded in the audit log', caught));
    const { attributes } = handling.exchange;
    if (attributes?.verb === 'watch' && response.ok) handling.atEnd(() => void record());
    else void record();
  }

  async function handle(handling: Handling): Promise<Response> {
    const { exchange } = handling;
    let failure: unknown;
    const response = await answer(handling).catch((caught: unknown) => {
      failure = caught;
      return failed(server, exchange.request, caught, handling.warnings);
    });
    response.headers.set('Audit-Id', exchange.auditId);
    if (!response.headers.has('Cache-Control')) response.headers.set('Cache-Control', 'no-cache, private');
    if (closing.signal.aborted) response.headers.set('Connection', 'close');
    handling.atEnd(() => counted?.observe(exchange, response.status, handling.written()));
    const audited = handling.audited ?? auditor?.begin(exchange);
    if (audited) finish(handling, audited, response, failure);
    return response;
  }

  const app = new Hono();
  app.all('*', async (context) => {
    const handling = beginHandling(context.req.raw, context.env, server.now());
    const response = await handle(handling);
    if (!isServed(context.env)) handling.end();
    return response;
  });
  // Nothing above should reach this; if it does, the client still gets a Status.
  app.onError((caught, context) => failed(server, context.req.raw, caught));
  return {
    app,
    drain() {
      draining = true;
    },
    async close(how = {}) {
      draining = true;
      spreadMs = how.spreadMs ?? 0;
      closing.abort();
      await activity.idle();
    },
  };
}

function unmeasured<T>(step: () => Promise<T>): Promise<T> {
  return step();
}

/** Rejects with Forbidden unless the user may; the exchange knows how it was decided. */
async function decide(
  authorize: Authorizer,
  exchange: Exchange,
  user: User,
  attributes: Attributes,
): Promise<void> {
  try {
    exchange.decision = { allowed: true, reason: await mustBeAllowed(authorize, user, attributes) };
  } catch (caught) {
    if (ArcError.is(caught, 'Forbidden')) exchange.decision = { allowed: false, reason: '' };
    throw caught;
  }
}

/** Everything counted, with what can only be known by looking. */
async function exposition(server: Server, metrics: Metrics, counted: RequestMetrics): Promise<Response> {
  counted.running();
  for (const kind of server.kinds) {
    if (kind.virtual) continue;
    const { items, remaining } = await server.store.list(keyPrefix(kind), { limit: 1 });
    counted.objects(kind, items.length + remaining);
  }
  return new Response(metrics.expose(), { headers: { 'Content-Type': metricsContentType } });
}

function failed(
  server: Server,
  request: Request,
  caught: unknown,
  warnings: readonly string[] = [],
): Response {
  if (!(caught instanceof ArcError) || isOurs(caught)) {
    server.log(`${request.method} ${new URL(request.url).pathname} failed`, caught);
  }
  return respondError(caught, request.headers.get('accept'), warnings);
}

function mustBeLoaded(store: Store): void {
  if (!store.synced) throw new ArcError('ServiceUnavailable', 'the watch cache is being loaded');
}

function mustNot(draining: boolean): void {
  if (draining) throw new ArcError('ServiceUnavailable', 'the server is shutting down');
}

function pageNotFound(): Response {
  return new Response('404 page not found\n', {
    status: 404,
    headers: { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' },
  });
}
