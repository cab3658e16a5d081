import { describe, expect, it } from 'vitest';
import { definitionPrefix, operationId, operationTag } from './openapi-names.ts';

const arc = { group: 'arc.opendefense.cloud', version: 'v1alpha1' };
const core = { group: '', version: 'v1' };

describe('names in OpenAPI', () => {
  it('reverse groups and keep those of Kubernetes', () => {
    expect(definitionPrefix(arc)).toBe('cloud.opendefense.arc.v1alpha1');
    expect(definitionPrefix(core)).toBe('io.k8s.api.core.v1');
    expect(definitionPrefix({ group: 'authorization.k8s.io', version: 'v1' })).toBe(
      'io.k8s.api.authorization.v1',
    );
  });
  it('make identifiers of operations and tags', () => {
    expect(operationId('list', arc, 'Namespaced', 'Order')).toBe(
      'listArcOpendefenseCloudV1alpha1NamespacedOrder',
    );
    expect(operationId('read', core, '', 'Namespace')).toBe('readCoreV1Namespace');
    expect([operationTag(arc), operationTag(core)]).toEqual(['arcOpendefenseCloud_v1alpha1', 'core_v1']);
  });
});
