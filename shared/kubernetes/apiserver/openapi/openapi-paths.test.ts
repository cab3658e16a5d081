import { describe, expect, it } from 'vitest';
import { sampleKinds, sampleNamespace, sampleOrder, sampleReview } from '../testing/sample-kinds.ts';
import { pathsOf } from './openapi-paths.ts';
import { openApiV2 } from './openapi-v2.ts';
import { openApiV3 } from './openapi-v3.ts';

function methods(definition: typeof sampleOrder) {
  return Object.fromEntries(
    pathsOf(definition).map(([path, item]) => [path, Object.keys(item.operations).join(' ')]),
  );
}

describe('pathsOf', () => {
  it('has every verb of a namespaced kind', () => {
    const root = '/apis/arc.example.com/v1alpha1';
    expect(methods(sampleOrder)).toEqual({
      [`${root}/namespaces/{namespace}/orders`]: 'get post delete',
      [`${root}/namespaces/{namespace}/orders/{name}`]: 'get put patch delete',
      [`${root}/namespaces/{namespace}/orders/{name}/status`]: 'get put patch',
      [`${root}/orders`]: 'get',
    });
  });

  it('has no namespaces for a cluster-scoped kind, and only create for a virtual one', () => {
    expect(Object.keys(methods(sampleNamespace))).toEqual([
      '/api/v1/namespaces',
      '/api/v1/namespaces/{name}',
      '/api/v1/namespaces/{name}/status',
    ]);
    expect(methods(sampleReview)).toEqual({
      '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews': 'post',
    });
  });

  it('gives each operation its kind, its action and the parameters of writes', () => {
    const [, , operations] = [...pathsOf(sampleOrder)].map(([, item]) => item.operations);
    expect(operations?.patch).toMatchObject({
      'x-kubernetes-action': 'patch',
      'x-kubernetes-group-version-kind': { group: 'arc.example.com', version: 'v1alpha1', kind: 'Order' },
    });
    expect(operations?.patch?.consumes).toContain('application/apply-patch+yaml');
    const names = operations?.patch?.parameters.map((parameter) => parameter.name);
    expect(names).toEqual(['dryRun', 'fieldManager', 'fieldValidation', 'force', 'pretty']);
    expect(operations?.put?.parameters.map((parameter) => parameter.name)).not.toContain('force');
  });

  it('has text subresources, like the log of a Pod', () => {
    const option = { name: 'tailLines', type: 'integer' as const, description: 'The last lines.' };
    const text = { name: 'log', description: 'read its log', options: [option], read: () => '' };
    const kind = { ...sampleOrder, texts: [text] };
    const at = '/apis/arc.example.com/v1alpha1/namespaces/{namespace}/orders/{name}/log';
    const shared = {
      operationId: 'readArcExampleComV1alpha1NamespacedOrderLog',
      'x-kubernetes-action': 'get',
      parameters: [expect.objectContaining({ name: 'tailLines', in: 'query' })],
    };
    expect(openApiV2([kind], 'v1')).toHaveProperty(
      ['paths', at, 'get'],
      expect.objectContaining({
        ...shared,
        produces: ['text/plain'],
        responses: expect.objectContaining({ 200: { description: 'OK', schema: { type: 'string' } } }),
      }),
    );
    const { group, version } = kind;
    const served = { group, version, groupVersion: `${group}/${version}`, kinds: [kind] };
    const content = { 'text/plain': { schema: { type: 'string' } } };
    expect(openApiV3(served, 'v1')).toHaveProperty(
      ['paths', at, 'get'],
      expect.objectContaining({
        ...shared,
        responses: expect.objectContaining({ 200: { description: 'OK', content } }),
      }),
    );
  });

  it('gives every operation of every group a unique name', () => {
    const ids = sampleKinds
      .flatMap(pathsOf)
      .flatMap(([, item]) => Object.values(item.operations).map((operation) => operation.operationId));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('declares every parameter its path has', () => {
    for (const [path, item] of sampleKinds.flatMap(pathsOf)) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).toSorted();
      expect(item.parameters.map((parameter) => parameter.name).toSorted()).toEqual(inPath);
    }
  });
});
