import { describe, expect, it } from 'vitest';
import { sampleKinds, sampleOrder, sampleReview, sampleSecret } from '../testing/sample-kinds.ts';
import { apiVersionOf, catalogue, hasStatus, rootPath, verbsOf } from './served-kinds.ts';

describe('verbs', () => {
  it('of a stored kind include the verbs for garbage collection and namespace deletion', () => {
    for (const verb of ['list', 'watch', 'delete', 'deletecollection'])
      expect(verbsOf(sampleOrder)).toContain(verb);
  });
  it('of a virtual kind are create alone, without a status', () => {
    expect(verbsOf(sampleReview)).toEqual(['create']);
    expect(hasStatus(sampleReview)).toBe(false);
    expect(hasStatus(sampleOrder)).toBe(true);
  });
});

describe('paths', () => {
  it('differ for core and named groups', () => {
    expect([apiVersionOf(sampleSecret), rootPath(sampleSecret)]).toEqual(['v1', '/api/v1']);
    expect(rootPath(sampleOrder)).toBe('/apis/arc.example.com/v1alpha1');
  });
});

describe('catalogue', () => {
  it('sorts kinds into groups and versions as they were declared, and by name within', () => {
    const groups = catalogue([...sampleKinds, { ...sampleOrder, version: 'v1' }]);
    expect(groups.map((group) => group.name)).toEqual(['', 'arc.example.com', 'authorization.k8s.io']);
    expect(groups[0]?.versions[0]?.kinds.map((kind) => kind.plural)).toEqual(['namespaces', 'secrets']);
    expect(groups[1]?.versions.map((served) => served.groupVersion)).toEqual([
      'arc.example.com/v1alpha1',
      'arc.example.com/v1',
    ]);
  });
  it('is empty for no kinds', () => {
    expect(catalogue([])).toEqual([]);
  });
});
