import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import { ArcError } from '#shared/errors';
import type { Store } from '#shared/storage';
import { impersonate } from './authorization/index.ts';
import { identify, mustBeAllowed } from './authorize.ts';
import type { Server } from './call.ts';
import { type Connection, connectionOf } from './connection.ts';
import type { AdmissionPlugin, Authenticator, Authorizer, KindDefinition } from './definition.ts';
import { health } from './health.ts';
import { namespaceLifecycle } from './namespace-lifecycle.ts';
import { discoveryRoutes } from './representation/index.ts';
import { isOurs, respondError } from './respond.ts';
import { handleResource } from './routes.ts';
import { attributesOf, parseTarget, verbOf } from './target.ts';

/** The Kubernetes release whose API conventions are followed; kubectl judges version skew by it. */
const followed = 'v1.34.0';

/** What `createApiServer` needs. */
export interface ApiServerOptions {
  kinds: readonly KindDefinition[];
  store: Store;
  authenticate: Authenticator;
  authorize: Authorizer;
  /** Run in this order, behind the namespace lifecycle. */
  admission?: readonly AdmissionPlugin[];
  /** The gitVersion that clients see: a semantic version. */
  version?: string;
  /** Takes failures of the server itself (5xx, broken watches); pino's `error` fits through a closure. */
  log?: (message: string, caught: unknown) => void;
  now?: () => Date;
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
  const lifecycle = namespaceLifecycle(kinds, store);
  const server: Server = {
    kinds,
    store,
    admission: [...(lifecycle ? [lifecycle] : []), ...(options.admission ?? [])],
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

  async function answer(request: Request, connection: Connection | undefined): Promise<Response> {
    const url = new URL(request.url);
    const asking = await identify(authenticate, request, connection);
    const user = await impersonate(authorize, asking, request, connection);
    const target = parseTarget(url.pathname);
    if (target) {
      const verb = verbOf(request.method, target, url.searchParams);
      await mustBeAllowed(authorize, user, attributesOf(target, verb, url.searchParams));
      return (await handleResource(server, request, url, user, target, verb)) ?? pageNotFound();
    }
    const verb = request.method.toLowerCase();
    await mustBeAllowed(authorize, user, { resource: false, verb, path: url.pathname });
    const probe = await health(url, store, draining, server.log);
    if (probe) return probe;
    const found = await discovery.fetch(request);
    return found.status === 404 ? pageNotFound() : found;
  }

  const app = new Hono();
  app.all('*', async (context) => {
    const request = context.req.raw;
    const response = await answer(request, connectionOf(context.env)).catch((caught: unknown) =>
      failed(server, request, caught),
    );
    return finished(request, response);
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
    },
  };
}

function failed(server: Server, request: Request, caught: unknown): Response {
  if (!(caught instanceof ArcError) || isOurs(caught)) {
    server.log(`${request.method} ${new URL(request.url).pathname} failed`, caught);
  }
  return respondError(caught);
}

function pageNotFound(): Response {
  return new Response('404 page not found\n', {
    status: 404,
    headers: { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' },
  });
}

/** Headers that every response carries; a caller's own Audit-ID is kept. */
function finished(request: Request, response: Response): Response {
  const audit = request.headers.get('audit-id') ?? '';
  response.headers.set('Audit-Id', /^[\x21-\x7e]{1,64}$/.test(audit) ? audit : randomUUID());
  if (!response.headers.has('Cache-Control')) response.headers.set('Cache-Control', 'no-cache, private');
  return response;
}
