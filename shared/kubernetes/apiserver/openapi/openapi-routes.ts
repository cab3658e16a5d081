import { Hono } from 'hono';
import { ArcError } from '#shared/base/errors';
import { parseAccept } from '../codec/negotiate.ts';
import type { KindDefinition } from '../kinds/definition.ts';
import type { ServedGroup } from '../kinds/served-kinds.ts';
import { rootPath } from '../kinds/served-kinds.ts';
import { lazyDocument, respondDocument } from './document.ts';
import { openApiV2 } from './openapi-v2.ts';
import { openApiV3 } from './openapi-v3.ts';

export interface DocumentOptions {
  version: string;
  now: () => Date;
}

const year = 365 * 24 * 3600 * 1000;
const uncached = 'no-cache, private';

function acceptsJson(request: Request): boolean {
  const served = ['application/json', 'application/*', '*/*'];
  return parseAccept(request.headers.get('Accept')).some((entry) => served.includes(entry.type));
}

/** Documents are served as JSON only, except for the empty v2 document below. */
function requireJson(request: Request): void {
  if (acceptsJson(request)) return;
  throw new ArcError('NotAcceptable', 'only the following media types are accepted: application/json');
}

const protobufV2 = /^application\/com\.github\.proto-openapi\.spec\.v2[.@]v1\.0\+protobuf$/;

function acceptsProtobufV2(request: Request): boolean {
  return parseAccept(request.headers.get('Accept')).some((entry) => protobufV2.test(entry.type));
}

/**
 * An empty v2 document in protobuf (openapiv2.Document of gnostic: swagger = 1, info = 2). kubectl reads it for kinds that are not in v3;
 * without it, a misspelled kind causes an error about content types.
 */
const emptyV2 = Buffer.from('\n\x032.0\x12\x0c\n\x03ARC\x12\x050.0.0', 'latin1');

/** Returns the caching headers: with the current hash in the URL, the document is immutable. */
function cacheHeaders(requestedHash: string | undefined, hash: string, now: Date): Record<string, string> {
  if (requestedHash?.toUpperCase() !== hash) return { 'Cache-Control': uncached, Vary: 'Accept' };
  const Expires = new Date(now.getTime() + year).toUTCString();
  return { 'Cache-Control': 'public, immutable', Expires, Vary: 'Accept' };
}

/** Returns the routes of /openapi/v3 with its documents, and /openapi/v2. A document requested with an outdated hash is not cacheable. */
export function openApiRoutes(
  kinds: readonly KindDefinition[],
  groups: readonly ServedGroup[],
  options: DocumentOptions,
): Hono {
  const app = new Hono();
  const versions = groups.flatMap((group) => group.versions);
  const documents = versions.map((served) => ({
    path: rootPath(served).slice(1),
    document: lazyDocument(() => openApiV3(served, options.version)),
  }));
  const index = lazyDocument(() => ({
    paths: Object.fromEntries(
      documents.map(({ path, document }) => [
        path,
        { serverRelativeURL: `/openapi/v3/${path}?hash=${document().hash}` },
      ]),
    ),
  }));
  app.get('/openapi/v3', ({ req }) => {
    requireJson(req.raw);
    return respondDocument(req.raw, index(), 'application/json', {
      'Cache-Control': uncached,
      Vary: 'Accept',
    });
  });
  for (const { path, document } of documents) {
    app.get(`/openapi/v3/${path}`, ({ req }) => {
      requireJson(req.raw);
      const headers = cacheHeaders(req.query('hash'), document().hash, options.now());
      return respondDocument(req.raw, document(), 'application/json', headers);
    });
  }
  const old = lazyDocument(() => openApiV2(kinds, options.version));
  app.get('/openapi/v2', ({ req }) => {
    if (!acceptsJson(req.raw) && acceptsProtobufV2(req.raw)) {
      const type = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
      return new Response(emptyV2, {
        headers: { 'Content-Type': type, 'Cache-Control': uncached, Vary: 'Accept' },
      });
    }
    requireJson(req.raw);
    return respondDocument(req.raw, old(), 'application/json', { 'Cache-Control': uncached, Vary: 'Accept' });
  });
  return app;
}
