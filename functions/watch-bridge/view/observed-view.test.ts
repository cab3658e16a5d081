import { describe, expect, it } from 'vitest';
import { type ArtifactWorkflow, duties, labels } from '#shared/domain';
import type { KubeObject } from '#shared/meta';
import { artifactWorkflow, order } from '../../../shared/domain/testing/objects.ts';
import { ObservedView } from './observed-view.ts';

const now = new Date('2026-01-02T03:30:00Z');

/** A version that has arrived at the tag that both versions write to. */
function arrived(name: string, revision: number, extra: object = {}): ArtifactWorkflow {
  const made = artifactWorkflow(name);
  const artifact = { [labels.artifact]: name, [labels.target]: 'stable', [labels.order]: 'uid-order' };
  return {
    ...made,
    metadata: {
      ...made.metadata,
      uid: `${name}-uid`,
      labels: { ...made.metadata.labels, ...artifact },
      ...extra,
    },
    spec: { ...made.spec, revision },
    status: { phase: 'Succeeded', attempts: 1, completionTime: '2026-01-02T03:00:00Z' },
  } as ArtifactWorkflow;
}

describe('ObservedView', () => {
  it('lets a deleted version go once another finished version has overwritten its tag', () => {
    const view = new ObservedView();
    const deleted = {
      deletionTimestamp: '2026-01-02T03:29:50Z',
      finalizers: ['arc.opendefense.cloud/workflow'],
    };
    const first = arrived('first', 1, deleted);
    const second = arrived('second', 2);
    // The status of its Order, which was rolled back, does not show yet how it ended.
    for (const object of [order('order', []), first]) view.put(object as unknown as KubeObject);
    const steps = () => duties(view, first, now).map(({ step }) => step);
    expect(steps()).toEqual([]);
    view.put(second as unknown as KubeObject);
    expect(steps()).toEqual(['submit']);
  });
});
