import { describe, expect, it } from 'vitest';
import { fieldPath } from './field-path.ts';

describe('fieldPath', () => {
  it.each([
    [[], ''],
    [['spec'], 'spec'],
    [['spec', 'artifacts', 0, 'type'], 'spec.artifacts[0].type'],
    [['metadata', 'labels', 'example.com/team'], 'metadata.labels[example.com/team]'],
    [['status', 'artifactWorkflows', 'index-1', 'phase'], 'status.artifactWorkflows.index-1.phase'],
    [['a', ''], 'a[]'],
  ])('%j is %s', (steps, path) => {
    expect(fieldPath(steps)).toBe(path);
  });
  it('cuts very long keys', () => {
    expect(fieldPath(['a', ' '.repeat(9000)]).length).toBeLessThan(300);
  });
});
