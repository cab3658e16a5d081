import { describe, expect, it } from 'vitest';
import { artifactWorkflows, group, orders, type Workflow, workflows } from '#shared/domain';
import { createRbac, loadManifests } from '#shared/local';
import { namespace, order } from '../../shared/domain/testing/objects.ts';
import {
  fresh,
  prepareForOrders,
  startApi,
  startFunctions,
  startWatching,
} from '../fixtures/standalone/parts.ts';

describe('cancel, with the rights and Triggers in knative/base', () => {
  it('needs no repetition of an event: what runs, what has a Workflow no longer, what never had one', async () => {
    const api = await startApi();
    const admin = api.clientOf('admin');
    await prepareForOrders(admin);
    const { denied, sink, depth } = await startFunctions(api);
    startWatching(api, sink);
    const list = async (): Promise<Workflow[]> => (await admin.list(workflows, { namespace })).items;
    const phaseOf = (name: string) => async () =>
      (await admin.get(orders, { namespace, name }))?.status?.phase;
    const poll = <T>(found: () => Promise<T>, message: string) =>
      expect.poll(found, { timeout: 15_000, message });

    const one = await admin.create(orders, fresh(order('one', ['a:1', 'b:1'])));
    await poll(async () => (await list()).filter(({ spec }) => spec.suspend !== true).length, 'two run').toBe(
      2,
    );
    const [first, second] = await list();
    await admin.mergePatch(orders, one.metadata, { spec: { cancel: true } });
    const stopped = async () => (await list()).filter(({ spec }) => spec.shutdown === 'Terminate').length;
    await poll(stopped, 'both are stopped').toBe(2);
    // What happened so far has been seen, so that only the deletion can tell of itself.
    const generations = async () =>
      (await admin.list(artifactWorkflows, { namespace })).items.map(
        ({ status }) => status?.observedGeneration,
      );
    await poll(generations, 'the stop is seen').toEqual([2, 2]);
    await poll(async () => depth(), 'no event is under way').toBe(0);
    await admin.mergePatch(workflows, first?.metadata ?? { name: '' }, { status: { phase: 'Failed' } });
    await admin.delete(workflows, second?.metadata ?? { name: '' });
    await poll(phaseOf('one'), 'the Order is Cancelled').toBe('Cancelled');

    const two = await admin.create(orders, fresh(order('two', ['c:1'], { suspend: true })));
    const children = async () => (await admin.list(artifactWorkflows, { namespace })).items.length;
    await poll(children, 'its ArtifactWorkflow is made').toBe(3);
    await admin.mergePatch(orders, two.metadata, { spec: { cancel: true } });
    await poll(phaseOf('two'), 'it is Cancelled').toBe('Cancelled');

    await admin.mergePatch(orders, one.metadata, { spec: { cancel: null } });
    await poll(async () => (await list()).filter(({ spec }) => !spec.shutdown).length, 'both run again').toBe(
      2,
    );
    await admin.mergePatch(orders, one.metadata, { spec: { cancel: true } });
    await admin.delete(orders, one.metadata);
    for (const { metadata } of await list())
      await admin.mergePatch(workflows, metadata, { status: { phase: 'Failed' } });
    await poll(phaseOf('one'), 'a cancelled Order goes').toBeUndefined();
    expect(denied).toEqual([]);
  });

  it.each([
    ['arc-viewer', [false, false, false]],
    ['arc-user', [true, true, false]],
    ['arc-operator', [true, true, true]],
  ])('may be asked for by %s: %j', async (name, expected) => {
    const apiGroup = 'rbac.authorization.k8s.io';
    const { authorize } = createRbac([
      ...(await loadManifests('knative/base')),
      {
        apiVersion: `${apiGroup}/v1`,
        kind: 'RoleBinding',
        metadata: { name, namespace },
        roleRef: { apiGroup, kind: 'ClusterRole', name },
        subjects: [{ apiGroup, kind: 'User', name: 'jo' }],
      },
    ]);
    const may = async (resource: string, subresource: string) => {
      const asked = {
        verb: 'create',
        group,
        version: 'v1alpha1',
        resource,
        subresource,
        namespace,
        name: 'one',
      };
      const { allowed } = await authorize({ name: 'jo', groups: [] }, { isResourceRequest: true, ...asked });
      return allowed;
    };
    expect([
      await may('orders', 'cancel'),
      await may('orders', 'force'),
      await may('artifactworkflows', 'cancel'),
    ]).toEqual(expected);
  });
});
