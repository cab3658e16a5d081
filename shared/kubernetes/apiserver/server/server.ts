import { Hono } from 'hono';
import { ArcError } from '#shared/base/errors';
import { type Metrics, metricsContentType } from '#shared/base/telemetry';
import type { Store } from '#shared/kubernetes/storage';
import { createAdmission } from '../admission/chain.ts';
import { type FindNamespace, namespaceLifecycle } from '../admission/namespace-lifecycle.ts';
import type { AdmissionPlugin } from '../admission/plugin.ts';
import type { AuditPolicy } from '../audit/audit-policy.ts';
import { type AuditSink, createAuditor } from '../audit/auditor.ts';
import type { Authenticator } from '../authentication/authenticator.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import { discoveryRoutes } from '../discovery/discovery-routes.ts';
import { countRequestsInFlight } from '../fairness/in-flight.ts';
import { defaultLimits, type Limits, limitRequests } from '../fairness/limits.ts';
import { handlerChain } from '../handlers/handler-chain.ts';
import type { IncomingRequest } from '../http/connection.ts';
import type { KindDefinition } from '../kinds/definition.ts';
import { authenticationMeasure, authorizationMeasure } from '../metrics/auth-metrics.ts';
import { type RequestMetrics, requestMetrics } from '../metrics/request-metrics.ts';
import { createQuota, type QuotaOptions } from '../quota/quota.ts';
import { keyPrefix } from '../registry/keys.ts';
import { storedObjects } from '../registry/stored-object.ts';
import type { ServerContext } from '../request/api-request.ts';
import { ApiRequest } from '../request/api-request.ts';
import { respondError } from '../response/respond.ts';
import { type HealthCheck, health } from './health.ts';

/** The Kubernetes release whose API conventions are followed; kubectl compares its own version with it. */
const followed = 'v1.34.0';

export interface ApiServerOptions {
  kinds: readonly KindDefinition[];
  store: Store;
  authenticate: Authenticator;
  authorize: Authorizer;
  /** Finds namespaces if they are not among `kinds`: an aggregated server asks the cluster. */
  findNamespace?: FindNamespace;
  /** Run in this order, after the namespace lifecycle. */
  admission?: readonly AdmissionPlugin[];
  /** What a namespace may hold. Default: whatever fits. */
  quota?: QuotaOptions;
  /** The gitVersion that clients see: a semantic version. */
  version?: string;
  /** Takes failures of the server itself (5xx, broken watches); pino's `error` fits through a closure. */
  log?: (message: string, caught: unknown) => void;
  now?: () => Date;
  /** Default: 400 reads and 200 writes at a time, 500 watches of one user. Health checks do not count. */
  limits?: Partial<Limits>;
  /** Counts requests and serves /metrics. */
  metrics?: Metrics;
  /** The store's name among the health checks; default `store`. */
  storeName?: string;
  /** Further health checks, and warnings that /readyz?verbose shows without failing. */
  checks?: readonly HealthCheck[];
  notices?: () => readonly string[];
  /** Records requests in an audit log. */
  audit?: { policy: AuditPolicy; write: AuditSink };
}

export interface ApiServer {
  app: Hono;
  /** Answers a request that came over no socket. Never rejects; `end` says that the response has been read, or that its client has left. */
  call(request: IncomingRequest): Promise<{ response: Response; end(): void }>;
  /** Aborted when the server closes. */
  readonly closing: AbortSignal;
  /** Makes /readyz fail; everything is served as before. */
  drain(): void;
  /**
   * Lets requests in flight finish and ends watches between two lines, spread over `spreadMs` so that their clients do not
   * reconnect all at once. Resolves when all have ended; the store stays open.
   */
  close(how?: { spreadMs?: number }): Promise<void>;
}

/**
 * Serves the Kubernetes API for the kinds given. Every request is authenticated, authorized and answered: failures
 * are Status bodies, unknown resources a plain 404, and nothing thrown by a handler leaves it.
 */
export function createApiServer(options: ApiServerOptions): ApiServer {
  const { kinds, store, authenticate, authorize, metrics, audit } = options;
  const closing = new AbortController();
  let draining = false;
  let spreadMs = 0;
  const findNamespace = namespaceFinder(options);
  const lifecycle = findNamespace ? [namespaceLifecycle(findNamespace)] : [];
  const plugins = [...lifecycle, ...(options.admission ?? [])];
  const inFlight = countRequestsInFlight();
  const limits = limitRequests({ ...defaultLimits, ...options.limits }, (reason) =>
    requests?.refused(reason),
  );
  const requests = metrics && requestMetrics(metrics, inFlight, limits);
  const log = options.log ?? (() => undefined);
  const now = options.now ?? (() => new Date());
  const quota =
    options.quota &&
    createQuota(store, options.quota, {
      signal: closing.signal,
      now,
      onFailure: (error) => log('counting what namespaces hold failed; trying again', error),
    });
  const server: ServerContext = {
    kinds,
    store,
    admission: createAdmission(plugins, metrics),
    quota,
    authorize,
    now,
    closing: closing.signal,
    spreadMs: () => spreadMs,
    onWatchEvent: requests?.watchEvent,
    log,
  };
  const checks: HealthCheck[] = [
    { name: 'ping', check: () => undefined },
    { name: options.storeName ?? 'store', check: async () => void (await store.revision()) },
    { name: 'watch-cache', readyOnly: true, check: () => mustBeLoaded(store) },
    ...(quota ? [{ name: 'quota', readyOnly: true, check: () => quota.mustBeCounted() }] : []),
    ...(options.checks ?? []),
    { name: 'shutdown', readyOnly: true, check: () => mustNot(draining) },
  ];
  const discovery = discoveryRoutes(kinds, { version: options.version ?? followed, now: server.now });
  discovery.onError((caught) => {
    throw caught;
  });

  async function handlePath({ raw, url }: ApiRequest): Promise<Response | undefined> {
    const probe = await health(url, { checks, notices: options.notices, log: server.log });
    if (probe) return probe;
    if (metrics && requests && url.pathname === '/metrics') return exposition(server, metrics, requests);
    // Its routes read no more of a request than this.
    const found = await discovery.fetch(raw as Request);
    return found.status === 404 ? undefined : found;
  }

  const handle = handlerChain({
    authenticate,
    inFlight,
    limits,
    handlePath,
    auditor: audit && createAuditor(audit.policy, audit.write, server.now),
    metrics: metrics &&
      requests && {
        requests,
        authentication: authenticationMeasure(metrics),
        authorization: authorizationMeasure(metrics),
      },
  });
  const app = new Hono();
  app.all('*', async (context) => {
    const request = new ApiRequest(server, context.req.raw, context.env);
    const response = await handle(request);
    // Only its head is sent: nobody would read a watch behind it, nor end it.
    if (context.req.raw.method === 'HEAD') response.body?.cancel().catch(() => undefined);
    if (!request.endsByItself) request.end();
    return response;
  });
  // The chain answers all failures; if one gets here nevertheless, the client still receives a Status.
  app.onError((caught, context) => {
    server.log(`${context.req.method} ${context.req.path} failed`, caught);
    return respondError(caught, context.req.raw);
  });
  return {
    app,
    closing: closing.signal,
    async call(raw) {
      const request = new ApiRequest(server, raw);
      return { response: await handle(request), end: () => request.end() };
    },
    drain() {
      draining = true;
    },
    async close(how = {}) {
      draining = true;
      spreadMs = how.spreadMs ?? 0;
      closing.abort();
      await inFlight.idle();
      await quota?.done;
    },
  };
}

/** Namespaces are read from the store if they are among the kinds served. Undefined: nobody knows them. */
function namespaceFinder({ kinds, store, findNamespace }: ApiServerOptions): FindNamespace | undefined {
  const isServed = kinds.some((kind) => kind.group === '' && kind.plural === 'namespaces');
  if (!isServed) return findNamespace;
  const stored = storedObjects(kinds, store);
  return (name) => stored.get('', 'namespaces', '', name);
}

/** All metrics. Requests in flight and stored objects are counted now. */
async function exposition(
  server: ServerContext,
  metrics: Metrics,
  requests: RequestMetrics,
): Promise<Response> {
  requests.setInFlight();
  for (const kind of server.kinds) {
    if (kind.virtual) continue;
    const { items, remaining } = await server.store.list(keyPrefix(kind), { limit: 1 });
    requests.setObjects(kind, items.length + remaining);
  }
  return new Response(metrics.expose(), { headers: { 'Content-Type': metricsContentType } });
}

function mustBeLoaded(store: Store): void {
  if (!store.synced) throw new ArcError('ServiceUnavailable', 'the watch cache is being loaded');
}

function mustNot(draining: boolean): void {
  if (draining) throw new ArcError('ServiceUnavailable', 'the server is shutting down');
}
