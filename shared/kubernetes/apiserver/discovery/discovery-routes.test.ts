import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ArcError, httpStatus } from '#shared/base/errors';
import { sampleKinds } from '../testing/sample-kinds.ts';
import { discoveryRoutes } from './discovery-routes.ts';

const app = discoveryRoutes(sampleKinds, { version: 'v1.34.2' });
app.onError((caught) => {
  const error = ArcError.from(caught);
  return new Response(error.message, { status: httpStatus(error.code) });
});

const v2 = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const v2beta1 = 'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList';

function get(path: string, headers: Record<string, string> = {}) {
  return app.request(path, { headers });
}

async function json(path: string, headers: Record<string, string> = {}): Promise<unknown> {
  return (await get(path, headers)).json();
}

describe('legacy discovery', () => {
  it('names versions of core and groups apart', async () => {
    expect(await json('/api')).toMatchObject({ kind: 'APIVersions', versions: ['v1'] });
    expect(await json('/apis')).toMatchObject({
      kind: 'APIGroupList',
      apiVersion: 'v1',
      groups: [
        {
          name: 'arc.example.com',
          versions: [{ groupVersion: 'arc.example.com/v1alpha1', version: 'v1alpha1' }],
          preferredVersion: { groupVersion: 'arc.example.com/v1alpha1' },
        },
        { name: 'authorization.k8s.io' },
      ],
    });
    expect(await json('/apis/arc.example.com')).toMatchObject({ kind: 'APIGroup', name: 'arc.example.com' });
  });

  it.each(['/version', '/api', '/apis', '/apis/arc.example.com', '/apis/arc.example.com/v1alpha1'])(
    'answers %s with a slash behind it as generated clients send it',
    async (path) => {
      expect(await json(`${path}/`)).toEqual(await json(path));
    },
  );

  it('lists resources with their verbs, names and subresources', async () => {
    const hash = createHash('sha256').update('arc.example.com/v1alpha1/Order').digest().subarray(0, 8);
    expect(await json('/apis/arc.example.com/v1alpha1')).toEqual({
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion: 'arc.example.com/v1alpha1',
      resources: [
        {
          name: 'orders',
          singularName: 'order',
          namespaced: true,
          kind: 'Order',
          verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
          shortNames: ['ord'],
          categories: ['arc'],
          storageVersionHash: hash.toString('base64'),
        },
        {
          name: 'orders/status',
          singularName: '',
          namespaced: true,
          kind: 'Order',
          verbs: ['get', 'patch', 'update'],
        },
      ],
    });
    expect(await json('/api/v1')).toMatchObject({
      groupVersion: 'v1',
      resources: [
        { name: 'namespaces', namespaced: false },
        { name: 'namespaces/status' },
        { name: 'secrets' },
      ],
    });
    expect(await json('/apis/authorization.k8s.io/v1')).toMatchObject({ resources: [{ verbs: ['create'] }] });
  });

  it('serves /api without the core group, and responds 404 for an unknown group', async () => {
    const bare = discoveryRoutes([], { version: 'v1.34.2' });
    expect(await (await bare.request('/api')).json()).toMatchObject({ kind: 'APIVersions', versions: [] });
    expect((await get('/apis/other.example.com')).status).toBe(404);
  });

  it('speaks YAML, indents for people, and refuses protobuf alone', async () => {
    const yaml = await get('/apis', { Accept: 'application/yaml' });
    expect(yaml.headers.get('Content-Type')).toBe('application/yaml');
    expect(parse(await yaml.text())).toMatchObject({ kind: 'APIGroupList' });
    expect(await (await get('/version', { 'User-Agent': 'curl/8' })).text()).toContain('\n  "major"');
    expect(await (await get('/version?pretty=0', { 'User-Agent': 'curl/8' })).text()).not.toContain('\n');
    expect((await get('/apis', { Accept: 'application/vnd.kubernetes.protobuf' })).status).toBe(406);
    expect((await get('/apis', { Accept: 'application/vnd.kubernetes.protobuf, */*' })).status).toBe(200);
  });

  it('reports the version', async () => {
    expect(await json('/version')).toMatchObject({ major: '1', minor: '34', gitVersion: 'v1.34.2' });
  });
});

describe('aggregated discovery', () => {
  it('is sent to clients that ask for v2, with the exact type, an ETag and Vary', async () => {
    const response = await get('/apis', { Accept: `${v2},${v2beta1},application/json` });
    expect(response.headers.get('Content-Type')).toBe(v2);
    expect(response.headers.get('ETag')).toMatch(/^"[0-9A-F]{64}"$/);
    expect(response.headers.get('Vary')).toBe('Accept');
    expect(await response.json()).toMatchObject({
      kind: 'APIGroupDiscoveryList',
      apiVersion: 'apidiscovery.k8s.io/v2',
      items: [
        {
          metadata: { name: 'arc.example.com' },
          versions: [
            {
              version: 'v1alpha1',
              freshness: 'Current',
              resources: [
                {
                  resource: 'orders',
                  responseKind: { group: 'arc.example.com', version: 'v1alpha1', kind: 'Order' },
                  scope: 'Namespaced',
                  singularResource: 'order',
                  shortNames: ['ord'],
                  categories: ['arc'],
                  subresources: [{ subresource: 'status', verbs: ['get', 'patch', 'update'] }],
                },
              ],
            },
          ],
        },
        { metadata: { name: 'authorization.k8s.io' } },
      ],
    });
  });

  it('has core under /api, nameless', async () => {
    const list = await json('/api', { Accept: v2 });
    expect(list).toMatchObject({ items: [{ versions: [{ version: 'v1' }] }] });
    expect(JSON.stringify(list)).not.toContain('arc.example.com');
  });

  it('responds 304 to a client with the current ETag', async () => {
    const etag = (await get('/api', { Accept: v2 })).headers.get('ETag') ?? '';
    const again = await get('/api', { Accept: v2, 'If-None-Match': etag });
    expect([again.status, again.headers.get('ETag'), await again.text()]).toEqual([304, etag, '']);
    expect((await get('/api', { Accept: v2, 'If-None-Match': '"other"' })).status).toBe(200);
  });

  it('falls back to the legacy form for v2beta1 and for clients that prefer it', async () => {
    for (const Accept of [`${v2beta1},application/json`, `application/json,${v2}`, '*/*']) {
      expect(await json('/apis', { Accept })).toMatchObject({ kind: 'APIGroupList' });
    }
  });
});
