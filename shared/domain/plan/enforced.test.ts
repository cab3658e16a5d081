import { describe, expect, it } from 'vitest';
import type { ArtifactType } from '../kinds/artifact-type.ts';
import type { Endpoint } from '../kinds/endpoint.ts';
import type { Settings } from '../settings/settings.ts';
import { artifactType, endpoint, ociType } from '../testing/objects.ts';
import { image, inputs, order, stored } from '../testing/plan-objects.ts';
import { textDigest } from '../values/hash.ts';
import { decideChildren } from './children.ts';
import type { PlanInputs } from './inputs.ts';
import { planOrder } from './plan.ts';

const [small, signed] = ['{"maxBytes":5}', '{"requiredSbom":true}'];
const withPolicy = (
  name: string,
  value: string,
  kind: ArtifactType['kind'] = 'ClusterArtifactType',
): ArtifactType => {
  const type = artifactType(name, {
    parameters: [{ name: 'policy', value }],
    workflowTemplateRef: { name: 'arc-oci-image', clusterScope: true },
  });
  return { ...type, kind };
};
const to = (spec: Partial<Endpoint['spec']> = {}) => [endpoint('from'), endpoint('to', spec)];
const types = [ociType(), withPolicy('small', small), withPolicy('signed', signed)];
const bound = (more: Partial<PlanInputs> = {}): PlanInputs =>
  inputs({
    endpoints: to({ policyRef: { name: 'signed' } }),
    types,
    applyingTemplates: ['arc-oci-image'],
    ...more,
  });
const one = order([image('app')]);
const enforced = (...all: NonNullable<Settings['enforced.policy']>): Settings => ({ 'enforced.policy': all });

function plannedIn(given: PlanInputs, settings: Settings = {}, of = one) {
  const [artifact] = planOrder(of, given, settings).artifacts;
  if (artifact === undefined) throw new Error('nothing was planned');
  return artifact;
}

function ready(given: PlanInputs, settings: Settings = {}, of = one) {
  const artifact = plannedIn(given, settings, of);
  if (artifact.state !== 'ready') throw new Error(artifact.hold.message);
  return artifact;
}

function holdIn(given: PlanInputs, settings: Settings = {}, of = one) {
  const artifact = plannedIn(given, settings, of);
  if (artifact.state !== 'held') throw new Error('it is ready');
  return artifact.hold;
}

describe('a policy that is enforced', () => {
  it('binds whatever type is named, and is part of what makes a version', () => {
    const artifact = ready(bound());
    const digest = textDigest(signed);
    expect(artifact.workflow.spec.policies).toEqual([{ from: 'Endpoint "to" (type "signed")', digest }]);
    const free = ready(bound({ endpoints: to() }));
    expect(free.workflow.spec).not.toHaveProperty('policies');
    expect(artifact.key).not.toBe(free.key);
    const other = ready(bound({ types: [ociType(), withPolicy('signed', small)] }));
    expect(other.key).not.toBe(artifact.key);
    expect(other.id).toBe(artifact.id);
  });

  it('leaves the key and the inputs of an Order without one as they were', () => {
    const before = planOrder(one, inputs());
    const after = planOrder(one, inputs({ applyingTemplates: ['arc-oci-image'] }), {});
    const elsewhere = planOrder(one, inputs(), enforced({ namespace: 'other', type: 'small' }));
    // As the release before there were any has computed them.
    expect([before.artifacts[0]?.key, before.inputs]).toEqual(['5f836ebe04396895', 'ce5722e0957ab4f5']);
    for (const plan of [after, elsewhere]) {
      expect(plan.artifacts).toEqual(before.artifacts);
      expect(plan.inputs).toBe(before.inputs);
    }
  });

  it('adds up: that of the destination, of the namespace and of the cluster', () => {
    const settings = enforced({ type: 'small' }, { namespace: 'team', type: 'signed' });
    const { policies = [] } = ready(bound(), settings).workflow.spec;
    expect(policies.map(({ from }) => from)).toEqual([
      'Endpoint "to" (type "signed")',
      'setting enforced.policy (type "small")',
      'setting enforced.policy (type "signed")',
    ]);
    const other = ready(bound({ endpoints: to() }), enforced({ namespace: 'other', type: 'small' }));
    expect(other.workflow.spec.policies).toBeUndefined();
  });

  it('of the operator is that of the cluster, whatever type of the namespace has its name', () => {
    const shadow = withPolicy('small', signed, 'ArtifactType');
    const { workflow } = ready(
      bound({ endpoints: to(), types: [...types, shadow] }),
      enforced({ type: 'small' }),
    );
    expect(workflow.spec.policies?.map(({ digest }) => digest)).toEqual([textDigest(small)]);
  });

  it('is that of no source', () => {
    const endpoints = [endpoint('from', { policyRef: { name: 'signed' } }), endpoint('to')];
    expect(ready(bound({ endpoints })).workflow.spec.policies).toBeUndefined();
  });

  it.each<[string, PlanInputs, Settings, string]>([
    ['type', bound({ types: [ociType()] }), {}, 'ArtifactType or ClusterArtifactType "signed" not found'],
    [
      'parameter',
      bound({ types: [ociType(), artifactType('signed')] }),
      {},
      'artifact type "signed" has no parameter policy, which spec.policyRef of Endpoint "to" enforces',
    ],
    ['type of the operator', bound(), enforced({ type: 'none' }), 'ClusterArtifactType "none" not found'],
    ['readable setting', bound(), enforced({ type: '' }), 'arc-settings cannot be read, so nothing is moved'],
  ])('holds everything while there is no such %s', (_, given, settings, message) => {
    expect(holdIn(given, settings)).toEqual({
      reason: 'PolicyMissing',
      message: expect.stringContaining(message),
    });
  });

  it('refuses types whose template does not apply it, and says what to use', () => {
    const message = expect.stringMatching(
      /^Endpoint "to" \(type "signed"\) enforces a policy, which ClusterWorkflowTemplate "arc-oci-image" does not apply: use a type whose/,
    );
    expect(holdIn(bound({ applyingTemplates: [] }))).toEqual({ reason: 'PolicyNotApplied', message });
    expect(ready(bound({ applyingTemplates: [], endpoints: to() }))).toBeDefined();
  });

  it('is not applied by a template of the namespace, which users may write', () => {
    const own: ArtifactType = {
      ...ociType(),
      kind: 'ArtifactType',
      spec: { workflowTemplateRef: { name: 'arc-oci-image' } },
    };
    expect(holdIn(bound({ types: [own, ...types.slice(1)] }))).toMatchObject({ reason: 'PolicyNotApplied' });
  });
});

describe('allowedTypes of an Endpoint', () => {
  it.each(['from', 'to'])('lets others not use it: %s', (name) => {
    const endpoints = (allowedTypes: string[]) =>
      ['from', 'to'].map((one) => endpoint(one, one === name ? { allowedTypes } : {}));
    expect(holdIn(inputs({ endpoints: endpoints(['signed', 'helm']) }))).toEqual({
      reason: 'TypeNotAllowed',
      message: `Endpoint "${name}" may be used by artifact type signed, helm, not "oci": name one of these types, or add it to spec.allowedTypes of the Endpoint`,
    });
    const allowed = ready(inputs({ endpoints: endpoints(['oci']) }));
    expect(allowed.key).toBe(ready(inputs({ endpoints: to() })).key);
  });
});

describe('a policy that changes while objects are under way', () => {
  const running = { phase: 'Running', configSecret: { name: 'a' } } as const;
  const child = (given: PlanInputs, status: Parameters<typeof stored>[1] = running) =>
    stored(ready(given).workflow, status);
  const names = (list: readonly { metadata: { name: string } }[]) =>
    list.map(({ metadata }) => metadata.name);
  const keep = order([image('app')], { onChange: 'Keep' });

  it('stops what runs and makes a version that it binds, also under onChange Keep', () => {
    const old = child(bound({ endpoints: to() }));
    for (const each of [one, keep]) {
      const { stop, create } = decideChildren(each, planOrder(each, bound()), [old]);
      expect(names(stop)).toEqual([old.metadata.name]);
      expect(create.map(({ spec }) => spec.policies?.length)).toEqual([1]);
    }
  });

  it('leaves under Keep what has ended, and what it bound already', () => {
    const done = child(bound({ endpoints: to() }), {
      phase: 'Succeeded',
      completionTime: '2026-01-02T03:00:00Z',
    });
    expect(decideChildren(keep, planOrder(keep, bound()), [done])).toMatchObject({ stop: [], create: [] });
    const stricter = child(bound(), running);
    const free = planOrder(keep, bound({ endpoints: to() }));
    expect(decideChildren(keep, free, [stricter])).toMatchObject({ stop: [], create: [] });
  });

  it.each<[string, PlanInputs]>([
    ['is absent', bound({ types: [ociType()] })],
    ['is not applied', bound({ applyingTemplates: [] })],
    ['does not allow the type', bound({ endpoints: to({ allowedTypes: ['helm'] }) })],
    [
      'is another one, while the source is away',
      bound({ endpoints: to({ policyRef: { name: 'small' } }).slice(1) }),
    ],
  ])('stops what runs where it %s, and makes nothing', (_, given) => {
    const old = child(bound({ endpoints: to() }));
    const { stop, create } = decideChildren(one, planOrder(one, given), [old]);
    expect([names(stop), create]).toEqual([[old.metadata.name], []]);
  });

  it('leaves alone what it binds while an Endpoint is away, and what has ended', () => {
    const away = planOrder(one, bound({ endpoints: bound().endpoints.slice(1) }));
    expect(decideChildren(one, away, [child(bound())])).toMatchObject({ stop: [], create: [] });
    const gone = planOrder(one, bound({ endpoints: [] }));
    expect(decideChildren(one, gone, [child(bound())])).toMatchObject({ stop: [], create: [] });
    const done = child(bound({ endpoints: to() }), {
      phase: 'Succeeded',
      completionTime: '2026-01-02T03:00:00Z',
    });
    const absent = planOrder(one, bound({ types: [ociType()] }));
    expect(decideChildren(one, absent, [done])).toMatchObject({ stop: [], remove: [], create: [] });
  });
});
