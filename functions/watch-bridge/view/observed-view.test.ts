import { describe, expect, it } from 'vitest';
import { type ArtifactWorkflow, annotations, duties, labels } from '#shared/domain';
import {
  artifactType,
  artifactWorkflow,
  endpoint,
  namespace,
  ociTemplate,
  ociType,
  order,
} from '../../../shared/domain/testing/objects.ts';
import { type Change, changeOf, neighbours } from '../duties/neighbours.ts';
import type { Observed } from './kept.ts';
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
    for (const object of [order('order', []), first]) view.put(object);
    const steps = () => duties(view, first, now).map(({ step }) => step);
    expect(steps()).toEqual([]);
    view.put(second);
    expect(steps()).toEqual(['submit']);
  });
});

describe('a policy that is enforced', () => {
  const namespaced = (object: object) => object as Observed;
  const policy = (maxBytes: number, kind = 'ClusterArtifactType') =>
    namespaced({
      ...artifactType('gate', { parameters: [{ name: 'policy', value: JSON.stringify({ maxBytes }) }] }),
      ...(kind === 'ArtifactType' && { metadata: { name: 'gate', namespace, uid: 'uid-own' } }),
      kind,
    });
  const template = (applies: string) => {
    const { metadata, ...rest } = ociTemplate();
    const annotated = { ...metadata, annotations: { [annotations.appliesPolicies]: applies } };
    return namespaced({ ...rest, metadata: annotated });
  };
  const ends = (policyRef?: { name: string }) => [
    endpoint('source'),
    endpoint('destination', policyRef ? { policyRef } : {}),
  ];
  const release = order('release', ['a:1']);
  const viewOf = (...objects: object[]) => {
    const view = new ObservedView();
    for (const object of [release, ociType(), template('true'), ...objects]) view.put(namespaced(object));
    return view;
  };
  const setting = (text: string) =>
    namespaced({
      kind: 'ConfigMap',
      metadata: { name: 'arc-settings', uid: 'map' },
      data: { 'enforced.policy': text },
    });
  const woken = (view: ObservedView, before: Observed, after: Observed) => {
    view.put(after);
    const found = [...neighbours(view, changeOf(before, after) as Change)];
    return [...new Set(found.map(({ metadata }) => metadata.name))];
  };

  it.each<[string, object[]]>([
    ['on an Endpoint', [...ends({ name: 'gate' }), policy(1)]],
    ['by the operator', [...ends(), policy(1), setting('team=gate')]],
  ])('%s is in the plan of an Order, which hears of its change', (_, objects) => {
    const view = viewOf(...objects);
    const key = () => view.planOf(release).artifacts[0]?.key;
    const state = () => view.stateOf(release);
    const [key1, state1] = [key(), state()];
    const { metadata, ...rest } = policy(2);
    const changed = { ...rest, metadata: { ...metadata, generation: 2, resourceVersion: '2' } };
    expect(woken(view, policy(1), changed)).toEqual(['release']);
    expect([key() === key1, state() === state1]).toEqual([false, false]);
    expect(woken(view, template('true'), template('false'))).toEqual(['release']);
    expect(view.planOf(release).artifacts[0]).toMatchObject({ hold: { reason: 'PolicyNotApplied' } });
  });

  it('of a type of the namespace wakes its Orders, and of another type none', () => {
    const view = viewOf(...ends({ name: 'gate' }), policy(1, 'ArtifactType'));
    expect(woken(view, policy(1, 'ArtifactType'), policy(2, 'ArtifactType'))).toEqual(['release']);
    expect(woken(viewOf(...ends(), policy(1)), policy(1), policy(2))).toEqual([]);
  });
});
