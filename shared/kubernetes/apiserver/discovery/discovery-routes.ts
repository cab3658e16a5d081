import { Hono } from 'hono';
import { jsonToYaml } from '#shared/base/yaml';
import { isIndented, negotiate } from '../codec/negotiate.ts';
import type { KindDefinition } from '../kinds/definition.ts';
import { catalogue, rootPath, type ServedGroup } from '../kinds/served-kinds.ts';
import { lazyDocument, respondDocument } from '../openapi/document.ts';
import { openApiRoutes } from '../openapi/openapi-routes.ts';
import {
  aggregatedType,
  apiGroup,
  apiGroupList,
  apiVersions,
  groupDiscoveryList,
  resourceList,
  wantsAggregated,
} from './discovery-documents.ts';
import { versionInfo } from './version.ts';

export interface DiscoveryOptions {
  /** The reported Kubernetes version, such as `v1.34.0+arc.0.1.0`, to which clients adapt their requests. */
  version: string;
  /** Clock for the Expires header. */
  now?: () => Date;
}

/** Responds with a small document in the negotiated representation. */
function respond(request: Request, body: object): Response {
  const headers = request.headers;
  const { format, contentType, pretty } = negotiate(headers.get('Accept'), headers.get('User-Agent'));
  const indent = isIndented(new URL(request.url).searchParams, pretty);
  const text =
    format === 'yaml'
      ? [...jsonToYaml(body)].join('')
      : JSON.stringify(body, undefined, indent ? 2 : undefined);
  return new Response(text, {
    headers: { 'Content-Type': contentType, 'Cache-Control': 'no-cache, private', Vary: 'Accept' },
  });
}

/** Serves aggregated discovery to clients that accept it, otherwise legacy discovery. */
function discoveryPath(
  app: Hono,
  path: string,
  groups: readonly ServedGroup[],
  legacy: (request: Request) => object,
): void {
  const aggregated = lazyDocument(() => groupDiscoveryList(groups));
  app.get(path, ({ req }) =>
    wantsAggregated(req.header('Accept'))
      ? respondDocument(req.raw, aggregated(), aggregatedType, { 'Cache-Control': 'public', Vary: 'Accept' })
      : respond(req.raw, legacy(req.raw)),
  );
}

/**
 * Returns the routes of discovery: /version, legacy and aggregated discovery below /api and /apis, and OpenAPI v3 and v2. Documents are
 * generated lazily. Handlers reject with ArcError (NotAcceptable), which the parent app must handle. Throws for an invalid version.
 */
export function discoveryRoutes(kinds: readonly KindDefinition[], options: DiscoveryOptions): Hono {
  // Not strict: generated clients (Python, Java) request `/apis/` and `/version/`, as in kube-apiserver's OpenAPI document.
  const app = new Hono({ strict: false });
  const groups = catalogue(kinds);
  const info = versionInfo(options.version);
  app.get('/version', ({ req }) => respond(req.raw, info));
  const core = groups.filter((group) => group.name === '');
  const named = groups.filter((group) => group.name !== '');
  discoveryPath(app, '/api', core, (request) => apiVersions(groups, new URL(request.url).host));
  discoveryPath(app, '/apis', named, () => apiGroupList(groups));
  for (const group of named) app.get(`/apis/${group.name}`, ({ req }) => respond(req.raw, apiGroup(group)));
  for (const served of groups.flatMap((group) => group.versions)) {
    app.get(rootPath(served), ({ req }) => respond(req.raw, resourceList(served)));
  }
  const now = options.now ?? (() => new Date());
  app.route('/', openApiRoutes(kinds, groups, { version: info.gitVersion, now }));
  return app;
}
