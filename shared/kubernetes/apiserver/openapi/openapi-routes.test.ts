import { describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { isRecord } from '#shared/base/meta';
import { readMessage, readText } from '../codec/protobuf.ts';
import { discoveryRoutes } from '../discovery/discovery-routes.ts';
import { sampleKinds } from '../testing/sample-kinds.ts';

const now = new Date('2026-01-02T03:04:05Z');
const app = discoveryRoutes(sampleKinds, { version: 'v1.34.2', now: () => now });
app.onError((caught, context) => context.text(ArcError.from(caught).code, 406));

async function json(path: string): Promise<Record<string, unknown>> {
  const body: unknown = await (await app.request(path)).json();
  if (!isRecord(body)) throw new Error(`${path} is no object`);
  return body;
}

/** Follows keys into a document; undefined where one is missing. */
function at(document: unknown, ...keys: string[]): unknown {
  return keys.reduce<unknown>((node, key) => (isRecord(node) ? node[key] : undefined), document);
}

function references(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(references);
  if (!isRecord(node)) return [];
  return Object.entries(node).flatMap(([key, value]) =>
    key === '$ref' && typeof value === 'string' ? [value] : references(value),
  );
}

const schema = 'com.example.arc.v1alpha1.Order';
const path = '/apis/arc.example.com/v1alpha1/namespaces/{namespace}/orders/{name}';

describe('/openapi/v3', () => {
  it('lists a document per group version, each of which is served', async () => {
    const { paths } = await json('/openapi/v3');
    expect(Object.keys(isRecord(paths) ? paths : {})).toEqual([
      'api/v1',
      'apis/arc.example.com/v1alpha1',
      'apis/authorization.k8s.io/v1',
    ]);
    for (const [name, entry] of Object.entries(paths ?? {})) {
      const url = String(at(entry, 'serverRelativeURL'));
      expect(url).toMatch(new RegExp(`^/openapi/v3/${name}\\?hash=[0-9A-F]{64}$`));
      const response = await app.request(url);
      expect(response.headers.get('Cache-Control')).toBe('public, immutable');
      expect(response.headers.get('Expires')).toBe('Sat, 02 Jan 2027 03:04:05 GMT');
      expect(response.headers.get('ETag')).toMatch(/^"[0-9A-F]{64}"$/);
    }
  });

  it('serves the document uncached for a wrong or missing hash', async () => {
    for (const query of ['', '?hash=00']) {
      const response = await app.request(`/openapi/v3/apis/arc.example.com/v1alpha1${query}`);
      expect([response.status, response.headers.get('Cache-Control')]).toEqual([200, 'no-cache, private']);
    }
  });

  it('responds 304 to a client with the current ETag', async () => {
    const etag = (await app.request('/openapi/v3')).headers.get('ETag') ?? '';
    expect((await app.request('/openapi/v3', { headers: { 'If-None-Match': etag } })).status).toBe(304);
  });

  it('defines everything that it refers to', async () => {
    for (const name of ['api/v1', 'apis/arc.example.com/v1alpha1', 'apis/authorization.k8s.io/v1']) {
      const document = await json(`/openapi/v3/${name}`);
      const defined = Object.keys(at(document, 'components', 'schemas') ?? {});
      for (const reference of references(document)) {
        expect(defined).toContain(reference.replace('#/components/schemas/', ''));
      }
    }
  });

  it('describes the kind for explain: its own fields, and metadata by reference', async () => {
    const document = await json('/openapi/v3/apis/arc.example.com/v1alpha1');
    const order = at(document, 'components', 'schemas', schema);
    expect(order).toMatchObject({
      type: 'object',
      description: 'What a user asks for.',
      required: ['spec'],
      'x-kubernetes-group-version-kind': [{ group: 'arc.example.com', version: 'v1alpha1', kind: 'Order' }],
      'x-kubernetes-selectable-fields': [{ fieldPath: 'status.phase' }],
      properties: {
        metadata: {
          allOf: [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' }],
        },
        spec: { description: 'What is wanted.', required: ['artifacts'] },
        status: {
          properties: {
            conditions: { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] },
          },
        },
      },
    });
    expect(JSON.stringify(order)).not.toContain('additionalProperties":false');
    expect(JSON.stringify(order)).not.toContain('9007199254740991');
    expect(at(document, 'components', 'schemas', `${schema}List`)).toMatchObject({ required: ['items'] });
  });

  it('describes every field of the metadata', async () => {
    const document = await json('/openapi/v3/api/v1');
    const schemas = at(document, 'components', 'schemas');
    for (const name of [
      'ObjectMeta',
      'ListMeta',
      'OwnerReference',
      'Status',
      'DeleteOptions',
      'WatchEvent',
    ]) {
      const fields = at(schemas, `io.k8s.apimachinery.pkg.apis.meta.v1.${name}`, 'properties');
      for (const field of Object.values(fields ?? {})) expect(at(field, 'description')).toBeTypeOf('string');
      expect(Object.keys(fields ?? {}).length).toBeGreaterThan(1);
    }
  });

  it('shows kubectl that PATCH takes fieldValidation', async () => {
    const document = await json('/openapi/v3/apis/arc.example.com/v1alpha1');
    expect(at(document, 'paths', path, 'patch')).toMatchObject({
      'x-kubernetes-group-version-kind': { kind: 'Order' },
      parameters: expect.arrayContaining([expect.objectContaining({ name: 'fieldValidation', in: 'query' })]),
      requestBody: { required: true, content: { 'application/merge-patch+json': {} } },
    });
    expect(at(document, 'paths', path, 'delete', 'requestBody')).not.toHaveProperty('required');
  });
});

describe('/openapi/v2', () => {
  const protobuf = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';

  it('has a document without kinds for clients that read protobuf alone', async () => {
    const response = await app.request('/openapi/v2', { headers: { Accept: protobuf } });
    expect([response.status, response.headers.get('Content-Type')]).toEqual([
      200,
      protobuf.replace('@', '.'),
    ]);
    const [swagger, info, ...more] = readMessage(new Uint8Array(await response.arrayBuffer()));
    expect([swagger && readText(swagger), info?.number, more]).toEqual(['2.0', 2, []]);
    const both = await app.request('/openapi/v2', { headers: { Accept: `${protobuf},*/*` } });
    expect(both.headers.get('Content-Type')).toBe('application/json');
    expect((await app.request('/openapi/v2', { headers: { Accept: 'text/html' } })).status).toBe(406);
  });

  it('has every path and definition, and only keywords of 2.0', async () => {
    const document = await json('/openapi/v2');
    expect(document.swagger).toBe('2.0');
    expect(Object.keys(document.paths ?? {})).toContain(path);
    const defined = Object.keys(document.definitions ?? {});
    expect(references(document).length).toBeGreaterThan(20);
    for (const reference of references(document)) {
      expect(defined).toContain(reference.replace('#/definitions/', ''));
    }
    for (const word of ['"nullable"', '"anyOf"', '"allOf"', '"components', '"content"', '"requestBody"']) {
      expect(JSON.stringify(document)).not.toContain(word);
    }
    expect(at(document, 'definitions', schema, 'properties', 'spec', 'properties', 'port')).toEqual({
      'x-kubernetes-int-or-string': true,
    });
    expect(at(document, 'paths', path, 'put', 'parameters')).toContainEqual({
      name: 'body',
      in: 'body',
      required: true,
      schema: { $ref: `#/definitions/${schema}` },
    });
  });
});
