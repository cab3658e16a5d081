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
import type { RequestEnv, ServerContext } from '../request/api-request.ts';
import { ApiRequest } from '../request/api-request.ts';
import { respondError } from '../response/respond.ts';
import { type HealthCheck, health } from './health.ts';

/** Default gitVersion: the Kubernetes release whose API conventions apply. kubectl checks the version skew against it. */
const kubernetesVersion = 'v1.34.0';

export interface ApiServerOptions {
  kinds: readonly KindDefinition[];
  store: Store;
  authenticate: Authenticator;
  authorize: Authorizer;
  /** Finds namespaces if they are not among `kinds`: an aggregated API server asks the cluster. */
  findNamespace?: FindNamespace;
  /** Run in this order, after the namespace lifecycle. */
  admission?: readonly AdmissionPlugin[];
  /** Quota per namespace. Default: unlimited. */
  quota?: QuotaOptions;
  /** The gitVersion of /version, a semantic version. */
  version?: string;
  /** Logs server errors (5xx, broken watches). */
  log?: (message: string, caught: unknown) => void;
  now?: () => Date;
  /** Default: 400 concurrent reads, 200 concurrent writes, 500 watches per user. Health checks do not count. */
  limits?: Partial<Limits>;
  /** Records request metrics and serves /metrics. */
  metrics?: Metrics;
  /** The name of the store's health check. Default: `store`. */
  storeName?: string;
  /** Additional health checks. */
  checks?: readonly HealthCheck[];
  /** Warnings that /readyz?verbose shows without failing. */
  notices?: () => readonly string[];
  /** Records requests in an audit log. */
  audit?: { policy: AuditPolicy; write: AuditSink };
}

export interface ApiServer {
  app: Hono;
  /**
   * Serves a request past hono. Never rejects. Without `env`, the caller calls `end` when it has read the response or no longer
   * will.
   */
  call(request: IncomingRequest, env?: RequestEnv): Promise<{ response: Response; end(): void }>;
  /** Aborted when the server shuts down. */
  readonly closing: AbortSignal;
  /** Makes /readyz fail; requests are still served. */
  drain(): void;
  /**
   * Finishes requests in flight and ends watches after a whole line, at random times within `spreadMs`, so that their clients do not
   * reconnect simultaneously. Resolves when no request is in flight; the store stays open.
   */
  close(how?: { spreadMs?: number }): Promise<void>;
}

/**
 * Returns a server of the Kubernetes API for `kinds`. Authenticates and authorizes every request. Errors become Status bodies, unknown
 * paths a plain 404.
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
      onFailure: (error) => log('failed to count the objects of namespaces; retrying', error),
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
    { name: 'watch-cache', readyOnly: true, check: () => checkSynced(store) },
    ...(quota ? [{ name: 'quota', readyOnly: true, check: () => quota.mustBeCounted() }] : []),
    ...(options.checks ?? []),
    { name: 'shutdown', readyOnly: true, check: () => checkNotDraining(draining) },
  ];
  const discovery = discoveryRoutes(kinds, {
    version: options.version ?? kubernetesVersion,
    now: server.now,
  });
  discovery.onError((caught) => {
    throw caught;
  });

  async function handlePath({ raw, url }: ApiRequest): Promise<Response | undefined> {
    const probe = await health(url, { checks, notices: options.notices, log: server.log });
    if (probe) return probe;
    if (metrics && requests && url.pathname === '/metrics') return exposition(server, metrics, requests);
    // The discovery routes use only the properties that IncomingRequest has.
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
    const request = new ApiRequest(server, context.req.raw, context.env as Partial<RequestEnv>);
    const response = await handle(request);
    // The body of a response to HEAD is not sent: a watch would never be read or end.
    if (context.req.raw.method === 'HEAD') response.body?.cancel().catch(() => undefined);
    if (!request.hasSocket) request.end();
    return response;
  });
  // Last resort: the chain never rejects.
  app.onError((caught, context) => {
    server.log(`${context.req.method} ${context.req.path} failed`, caught);
    return respondError(caught, context.req.raw);
  });
  return {
    app,
    closing: closing.signal,
    async call(raw, env) {
      const request = new ApiRequest(server, raw, env);
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

/** Returns a lookup in the store if namespaces are served, otherwise the one in `options`, which may be undefined. */
function namespaceFinder({ kinds, store, findNamespace }: ApiServerOptions): FindNamespace | undefined {
  const isServed = kinds.some((kind) => kind.group === '' && kind.plural === 'namespaces');
  if (!isServed) return findNamespace;
  const stored = storedObjects(kinds, store);
  return (name) => stored.get('', 'namespaces', '', name);
}

/** Serves /metrics. Updates the gauges of requests in flight and stored objects first. */
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

function checkSynced(store: Store): void {
  if (!store.synced) throw new ArcError('ServiceUnavailable', 'the watch cache is initializing');
}

function checkNotDraining(draining: boolean): void {
  if (draining) throw new ArcError('ServiceUnavailable', 'the server is shutting down');
}
