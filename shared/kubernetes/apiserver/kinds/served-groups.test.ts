import { describe, expect, it } from 'vitest';
import { sampleKinds, sampleOrder } from '../testing/sample-kinds.ts';
import { catalogue } from './served-groups.ts';

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
