import { describe, expect, it } from 'vitest';
import { type ArtifactWorkflow, artifactWorkflows, events, labels, orders, planOrder } from '#shared/domain';
import { namespace, ociType, order } from '../../shared/domain/testing/objects.ts';
import { FakeApi } from '../../shared/kubernetes/client/testing/fake-api/fake-api.ts';
import { decompose, images, inputs, known } from './testing/decompose.ts';

describe('what an Order has', () => {
  it('cancels its children with the Order, and takes that back with it', async () => {
    const one = order('order', images);
    const api = new FakeApi([one, ...inputs]);
    await decompose(api, one);
    const held = api.read(orders, one.metadata) ?? one;
    const cancels = () => api.all(artifactWorkflows).map(({ spec }) => spec.cancel);
    api.put({ ...held, spec: { ...held.spec, cancel: true } });
    await decompose(api, one);
    expect(cancels()).toEqual([true, true, true]);
    api.put(held);
    await decompose(api, one);
    expect(cancels()).toEqual([undefined, undefined, undefined]);
    const before = api.writes.length;
    await decompose(api, one);
    expect(api.writes.length).toBe(before);
  });

  it('creates nothing for an Order that is cancelled, and deletes it', async () => {
    const one = order('order', images, { cancel: true });
    const api = new FakeApi([one, ...inputs]);
    await decompose(api, one);
    expect(api.all(artifactWorkflows)).toEqual([]);
    await api.client.delete(orders, one.metadata);
    await decompose(api, one);
    expect(api.read(orders, one.metadata)).toBeUndefined();
  });

  it('deletes the children that an edited Order no longer wants', async () => {
    const one = order('order', images);
    const api = new FakeApi([one, ...inputs]);
    await decompose(api, one);
    const held = api.read(orders, one.metadata) ?? one;
    api.put({ ...held, spec: order('order', ['team/app:1']).spec });
    await decompose(api, one);
    const going = api.all(artifactWorkflows).filter(({ metadata }) => metadata.deletionTimestamp);
    expect(going.length).toBe(2);
  });

  it('marks what had finished as superseded, once, and says so', async () => {
    const plain = order('order', []);
    const version = (tag: string) => ({ name: 'app', type: 'oci', spec: { image: `team/app:${tag}` } });
    const one = { ...plain, spec: { ...plain.spec, artifacts: [version('1')] } };
    const api = new FakeApi([one, ...inputs]);
    await decompose(api, one);
    const [first] = api.all(artifactWorkflows);
    if (!first) throw new Error('none made');
    const status = { phase: 'Succeeded', completionTime: '2026-01-01T00:01:00Z' } as const;
    api.put({ ...first, metadata: { ...first.metadata, finalizers: [] }, status });
    const held = api.read(orders, one.metadata) ?? one;
    api.put({ ...held, spec: { ...held.spec, artifacts: [version('2')] } });
    await decompose(api, one);
    await decompose(api, one);
    const [before, after] = api.all(artifactWorkflows);
    expect(before?.metadata.labels).toHaveProperty([labels.superseded], 'true');
    expect(after?.metadata.labels).not.toHaveProperty([labels.superseded]);
    expect(api.all(events).filter(({ reason }) => reason === 'Superseded')).toMatchObject([
      {
        count: 1,
        message: 'revision 2 of its artifact is in force',
        involvedObject: { name: first.metadata.name },
      },
    ]);
  });

  it('does not touch an object with its label that it does not own', async () => {
    const one = order('order', []);
    const foreign: ArtifactWorkflow = {
      apiVersion: one.apiVersion,
      kind: 'ArtifactWorkflow',
      metadata: { name: 'mine', namespace, labels: { 'arc.opendefense.cloud/order': 'uid-order' } },
      spec: { workflowTemplateRef: { name: 't' } },
    };
    const api = new FakeApi([one, foreign, ...inputs]);
    await decompose(api, one);
    expect(api.read(artifactWorkflows, foreign.metadata)?.metadata.deletionTimestamp).toBeUndefined();
  });

  it('does not run a child again that finished and was removed after it read the Order', async () => {
    const one = order('order', ['team/app:1']);
    const api = new FakeApi([one, ...inputs]);
    await decompose(api, one);
    const [child] = api.all(artifactWorkflows);
    const held = api.read(orders, one.metadata) ?? one;
    const entry = { artifactIndex: 0, phase: 'Succeeded', completionTime: '2026-01-01T00:01:00Z' };
    api.before = ({ verb, resource }) => {
      if (verb !== 'list' || resource !== 'artifactworkflows' || !child) return;
      api.put({ ...held, status: { artifactWorkflows: { [child.metadata.name.slice(-16)]: entry } } });
      api.remove(artifactWorkflows, child.metadata);
    };
    await decompose(api, one);
    expect(api.all(artifactWorkflows)).toEqual([]);
  });

  it('leaves the version alone that another delivery makes of a later edit meanwhile', async () => {
    const artifacts = (image: string) => [{ type: 'oci', spec: { image, override: 'mirror/app:stable' } }];
    const one = order('order', [], { artifacts: artifacts('team/app:1') });
    const api = new FakeApi([one, ...inputs]);
    await decompose(api, one);
    const held = api.read(orders, one.metadata) ?? one;
    const edited = { ...held, spec: { ...held.spec, artifacts: artifacts('team/app:2') } };
    const [later] = planOrder(edited, { endpoints: known, types: [ociType()] }).artifacts;
    if (later?.state !== 'ready') throw new Error('the plan is not as the test needs it');
    api.before = ({ verb, resource }) => {
      if (verb !== 'list' || resource !== 'artifactworkflows') return;
      api.put(edited);
      for (const { metadata } of api.all(artifactWorkflows)) api.remove(artifactWorkflows, metadata);
      api.put({ ...later.workflow, spec: { ...later.workflow.spec, revision: 2 } });
    };
    await decompose(api, one);
    const left = api
      .all(artifactWorkflows)
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    expect(left.map(({ metadata }) => metadata.name)).toEqual([later.workflow.metadata.name]);
  });

  it('creates nothing for an Order that is deleted meanwhile', async () => {
    const one = order('order', images);
    const api = new FakeApi([one, ...inputs]);
    api.before = ({ verb, resource }) => {
      if (verb === 'list' && resource === 'artifactworkflows') api.remove(orders, one.metadata);
    };
    await decompose(api, one);
    expect(api.writes).toEqual([]);
  });
});
