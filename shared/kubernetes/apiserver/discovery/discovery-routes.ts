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
  /** The Kubernetes version to report, as in `v1.34.0+arc.0.1.0`: clients adapt their requests to it. */
  version: string;
  /** For the Expires header alone. */
  now?: () => Date;
}

/** A small document in the form that the request accepts. */
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

/** A path that answers aggregated discovery to clients that accept it and the older form to others. */
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
 * Everything that a client reads before it uses a kind: /version, /api, /apis and what is below them down to the list
 * of resources, in the legacy and the aggregated form, and OpenAPI v3 and v2. Documents are made at their first
 * request. Failures (an Accept header that cannot be served) reject with ArcError for the app these are mounted
 * in; an invalid version throws at once.
 */
export function discoveryRoutes(kinds: readonly KindDefinition[], options: DiscoveryOptions): Hono {
  // Generated clients (Python, Java) ask for `/apis/` and `/version/`, as kube-apiserver's OpenAPI document writes them.
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
