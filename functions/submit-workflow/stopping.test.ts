import { describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { type ArtifactWorkflow, artifactWorkflows, finalizers, type Order, workflows } from '#shared/domain';
import { contextOf, eventOf } from '../../shared/conduit/runtime/testing/handler-context.ts';
import { artifactWorkflow, namespace, order, workflowOf } from '../../shared/domain/testing/objects.ts';
import { FakeApi } from '../../shared/kubernetes/client/testing/fake-api/fake-api.ts';
import { handle } from './index.ts';

const name = 'order-0123456789abcdef';
const key = { namespace, name };
const ready = artifactWorkflow(name);

function deleted(workflow: ArtifactWorkflow, at = '2026-01-01T23:59:50Z'): ArtifactWorkflow {
  return { ...workflow, metadata: { ...workflow.metadata, deletionTimestamp: at } };
}

/** Deleted, and it began to be stopped a day ago. */
function stopping({ status, ...rest }: ArtifactWorkflow): ArtifactWorkflow {
  return deleted({ ...rest, status: { ...status, stopSince: '2026-01-01T00:00:00Z' } });
}

function deletedOrder(): Order {
  const one = order('order', ['team/app:1.0']);
  const metadata = {
    ...one.metadata,
    deletionTimestamp: '2026-01-01T23:59:50Z',
    finalizers: [finalizers.children],
  };
  return { ...one, metadata };
}

describe('submit-workflow, for an ArtifactWorkflow that is being deleted,', () => {
  it('stops the Workflow of a deleted ArtifactWorkflow and removes the finalizer when it has ended', async () => {
    const going = deleted(
      artifactWorkflow(name, { status: { workflowRef: { kind: 'Workflow', name, attempt: 1 } } }),
    );
    const api = new FakeApi([going, workflowOf(ready, name, { phase: 'Running' })]);
    await handle(contextOf(api), eventOf(going));
    expect(api.read(workflows, key)?.spec.shutdown).toBe('Terminate');
    expect(api.read(artifactWorkflows, key)).toBeDefined();
    api.put(workflowOf(ready, name, { phase: 'Failed' }));
    await handle(contextOf(api), eventOf(going));
    expect(api.read(artifactWorkflows, key)).toBeUndefined();
  });

  it('removes the finalizer when the Workflow is gone, or when Argo does not end it in time', async () => {
    const going = deleted(ready);
    const api = new FakeApi([going]);
    await handle(contextOf(api), eventOf(going));
    expect(api.read(artifactWorkflows, key)).toBeUndefined();

    const old = stopping(ready);
    const stuck = new FakeApi([old, workflowOf(ready, name, { phase: 'Running' })]);
    await handle(contextOf(stuck), eventOf(old));
    expect(stuck.read(artifactWorkflows, key)).toBeUndefined();
  });

  describe('whose Workflow was stopped while its pod goes on for its grace period', () => {
    const workflowRef = { kind: 'Workflow' as const, name, attempt: 1 };
    const running = artifactWorkflow(name, { status: { phase: 'Running', workflowRef } });
    const pod = (phase: string) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'pod', namespace, labels: { 'workflows.argoproj.io/workflow': name } },
      status: { phase },
    });

    it('keeps the name of one that was deleted by hand until the pod has ended', async () => {
      const api = new FakeApi([running, workflowOf(ready, name, { phase: 'Running' }), pod('Running')]);
      api.time = '2026-01-01T23:59:50Z';
      await api.client.delete(artifactWorkflows, key);
      await handle(contextOf(api), eventOf(running));
      const stopped = workflowOf(ready, name, { phase: 'Failed' });
      api.put({ ...stopped, spec: { shutdown: 'Terminate' } });
      const again = () => api.client.create(artifactWorkflows, { ...ready, status: {} });
      await handle(contextOf(api), eventOf(running));
      expect(api.read(artifactWorkflows, key)?.status?.waitMessage).toContain(
        'pod "pod" of a Workflow that was stopped has not ended',
      );
      // Argo does no more: without its Workflow the pod is deleted, and killed after its grace period.
      expect(api.read(workflows, key)).toBeUndefined();
      await expect(again()).rejects.toMatchObject({ code: 'AlreadyExists' });
      api.put(pod('Failed'));
      await handle(contextOf(api), eventOf(running));
      expect((await again()).metadata.name).toBe(name);
    });

    it('does not hold it for ever', async () => {
      const old = stopping(running);
      const api = new FakeApi([old, pod('Running')]);
      await handle(contextOf(api), eventOf(old));
      expect(api.read(artifactWorkflows, key)).toBeUndefined();
    });

    it('holds up the next attempt, and whatever writes to the same place', async () => {
      const api = new FakeApi([pod('Running'), { ...ready, metadata: { ...ready.metadata, name: 'next' } }]);
      const next = { namespace, name: 'next' };
      const time = { lastTransitionTime: '2026-01-01T23:59:58Z', message: '', status: 'False' as const };
      const conditions = [{ type: 'Reconciling', reason: 'Stopped', ...time }];
      api.put({ ...running, status: { ...running.status, phase: 'Stopped', syncedAttempt: 1, conditions } });
      const event = { ...eventOf(ready), name: 'next' };
      await handle(contextOf(api), event);
      expect(api.read(artifactWorkflows, next)?.status?.waitMessage).toContain('pod "pod"');
      expect(api.all(workflows)).toEqual([]);
      api.put(pod('Succeeded'));
      await handle(contextOf(api), event);
      expect(api.all(workflows).map(({ metadata }) => metadata.name)).toEqual(['next']);
      expect(api.read(artifactWorkflows, next)?.status?.waitMessage).toBeUndefined();
    });

    it('holds up a Workflow that is made again because somebody deleted it, but not for a pod on a lost node', async () => {
      const api = new FakeApi([ready]);
      await handle(contextOf(api), eventOf(ready));
      await api.client.delete(workflows, key);
      api.put(pod('Running'));
      await handle(contextOf(api), eventOf(ready));
      expect(api.all(workflows)).toEqual([]);
      const lost = { ...pod('Running').metadata, deletionTimestamp: '2026-01-01T23:58:00Z' };
      api.put({ ...pod('Running'), metadata: lost });
      const waited = (seconds: number) => contextOf(api, new Date(Date.UTC(2026, 0, 2, 0, 0, seconds)));
      await handle(waited(119), eventOf(ready));
      expect(api.all(workflows)).toEqual([]);
      await handle(waited(120), eventOf(ready));
      expect(api.all(workflows).length).toBe(1);
    });

    it("goes though Argo's kinds are gone", async () => {
      const api = new FakeApi([deleted(running)]);
      api.before = ({ resource, verb }) => {
        if (resource === 'workflows') throw new ArcError('NotFound', `404 page not found (${verb})`);
      };
      await handle(contextOf(api), eventOf(running));
      expect(api.read(artifactWorkflows, key)).toBeUndefined();
    });

    it('asks for no pods where nothing was stopped, and does without where there are none', async () => {
      const asked: string[] = [];
      const api = new FakeApi([ready]);
      api.before = ({ verb, resource }) => {
        asked.push(`${verb} ${resource}`);
        if (resource === 'pods') throw new ArcError('NotFound', '404 page not found');
      };
      await handle(contextOf(api), eventOf(ready));
      api.put({ ...running, status: { ...running.status, phase: 'Succeeded', syncedAttempt: 1 } });
      api.put(workflowOf(running, name, { phase: 'Succeeded' }));
      await api.client.delete(artifactWorkflows, key);
      await handle(contextOf(api), eventOf(ready));
      expect(api.read(artifactWorkflows, key)).toBeUndefined();
      expect(asked).not.toContain('list pods');
      const going = deleted(running);
      api.remove(workflows, key);
      api.put(going);
      await handle(contextOf(api), eventOf(going));
      expect(api.read(artifactWorkflows, key)).toBeUndefined();
      expect(asked).toContain('list pods');
    });
  });

  describe('of one that had finished when it was deleted', () => {
    const end = { phase: 'Succeeded', completionTime: '2026-01-01T23:00:00Z' } as const;
    const finished = deleted(artifactWorkflow(name, { status: { ...end, syncedAttempt: 1 } }));
    const recorded = { [name.slice(-16)]: { artifactIndex: 0, ...end } };

    it('waits until the status of its Order shows the end, so that it does not run again', async () => {
      const one = order('order', ['team/app:1.0']);
      const api = new FakeApi([one, finished]);
      await handle(contextOf(api), eventOf(finished));
      expect(api.read(artifactWorkflows, key)?.status?.waitMessage).toBe(
        'the status of its Order does not show yet how it ended',
      );
      api.put({ ...one, status: { artifactWorkflows: recorded } });
      await handle(contextOf(api), eventOf(finished));
      expect(api.read(artifactWorkflows, key)).toBeUndefined();
    });

    it.each<[string, Order[]]>([
      ['is gone', []],
      [
        'is another one of that name',
        [{ ...order('order', []), metadata: { name: 'order', namespace, uid: 'other' } }],
      ],
      ['is being deleted', [deletedOrder()]],
    ])('does not wait for an Order that %s', async (_, others) => {
      const api = new FakeApi([...others, finished]);
      await handle(contextOf(api), eventOf(finished));
      expect(api.read(artifactWorkflows, key)).toBeUndefined();
    });

    it('does not wait where a later version is there', async () => {
      const later = artifactWorkflow('order-aaaaaaaaaaaaaaaa', { spec: { ...ready.spec, revision: 2 } });
      const api = new FakeApi([order('order', ['team/app:1.0']), later, finished]);
      await handle(contextOf(api), eventOf(finished));
      expect(api.read(artifactWorkflows, key)).toBeUndefined();
    });
  });
});
