import { describe, expect, it } from 'vitest';
import {
  type ArtifactWorkflow,
  artifactWorkflows,
  cronWorkflows,
  events,
  finalizers,
  type Order,
  workflows,
} from '#shared/domain';
import { ArcError } from '#shared/errors';
import { unreleased } from '../../shared/domain/submission/release.ts';
import { artifactWorkflow, namespace, order, workflowOf } from '../../shared/domain/testing/objects.ts';
import { FakeApi } from '../../shared/kube/testing/fake-api/fake-api.ts';
import { contextOf, wakeOf } from '../../shared/runtime/testing/handler-context.ts';
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

describe('submit-workflow', () => {
  it('records the Workflow, creates it suspended, then releases it, in one delivery', async () => {
    const api = new FakeApi([ready]);
    await handle(contextOf(api), wakeOf(ready, 'rendered'));
    expect(api.writes).toMatchObject([
      { verb: 'patch', resource: 'artifactworkflows', subresource: 'status' },
      { verb: 'create', resource: 'workflows', body: { spec: { suspend: true } } },
      { verb: 'patch', resource: 'workflows', body: { spec: { suspend: null } } },
    ]);
    expect(api.read(workflows, key)?.spec.suspend).toBeUndefined();
    expect(api.read(artifactWorkflows, key)?.status).toMatchObject({ attempts: 1, workflowRef: { name } });
    expect(api.read(workflows, key)?.metadata.ownerReferences?.[0]?.uid).toBe(ready.metadata.uid);
  });

  describe('without rights in the namespace', () => {
    const withoutRights = (workflow: ArtifactWorkflow) => {
      const api = new FakeApi([workflow]);
      api.before = ({ resource }) => {
        if (['workflows', 'cronworkflows', 'pods'].includes(resource))
          throw new ArcError('Forbidden', 'workflows is forbidden: User "a" cannot get resource "workflows"');
      };
      return api;
    };

    it('waits and says which command gives them, once', async () => {
      const api = withoutRights(ready);
      await handle(contextOf(api), wakeOf(ready));
      const waiting = api.read(artifactWorkflows, key);
      expect(waiting?.status?.waitMessage).toContain(`kubectl apply -k knative/tenant -n ${namespace}`);
      const before = api.writes.length;
      await handle(contextOf(api), wakeOf(ready, 'resync'));
      expect(api.writes.length).toBe(before);
    });

    it('lets one that is being deleted go', async () => {
      const ending = deleted(ready);
      const api = withoutRights(ending);
      await handle(contextOf(api), wakeOf(ending));
      expect(api.read(artifactWorkflows, key)?.metadata.finalizers ?? []).not.toContain(finalizers.workflow);
    });
  });

  it('passes the trace of the wake to the Workflow', async () => {
    const api = new FakeApi([ready]);
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    await handle({ ...contextOf(api), trace: { traceparent, tracestate: 'a=b' } }, wakeOf(ready, 'rendered'));
    expect(api.read(workflows, key)?.metadata.annotations).toMatchObject({
      'arc.opendefense.cloud/traceparent': traceparent,
    });
  });

  it('writes nothing the second time', async () => {
    const api = new FakeApi([ready]);
    await handle(contextOf(api), wakeOf(ready));
    const before = api.writes.length;
    await handle(contextOf(api), wakeOf(ready, 'resync'));
    expect(api.writes.length).toBe(before);
  });

  it('creates the same Workflow again after its deletion, or after a crash before its creation', async () => {
    const api = new FakeApi([ready]);
    await handle(contextOf(api), wakeOf(ready));
    await api.client.delete(workflows, key);
    const before = api.writes.length;
    await handle(contextOf(api), wakeOf(ready, 'gone'));
    expect(api.writes.slice(before).map(({ verb, resource }) => `${verb} ${resource}`)).toEqual([
      'create workflows',
      'patch workflows',
    ]);
  });

  it('reads no Workflow for its progress, but recreates it when it is gone', async () => {
    const api = new FakeApi([ready]);
    await handle(contextOf(api), wakeOf(ready));
    const calls: string[] = [];
    api.before = ({ verb, resource }) => calls.push(`${verb} ${resource}`);
    await handle(contextOf(api), wakeOf(ready, 'workflow'));
    expect(calls).toEqual(['get artifactworkflows']);
    await api.client.delete(workflows, key);
    await handle(contextOf(api), wakeOf(ready, 'gone'));
    expect(api.all(workflows).length).toBe(1);
  });

  it('waits for the configuration', async () => {
    const bare = artifactWorkflow(name, { status: {} });
    const api = new FakeApi([bare]);
    await handle(contextOf(api), wakeOf(bare));
    expect(api.writes).toEqual([]);
  });

  it('adds its finalizer to an ArtifactWorkflow made by hand before it creates anything', async () => {
    const bare = artifactWorkflow(name, { metadata: { ...ready.metadata, finalizers: [] } });
    const api = new FakeApi([bare]);
    await handle(contextOf(api), wakeOf(bare));
    expect(api.read(artifactWorkflows, key)?.metadata.finalizers).toEqual([finalizers.workflow]);
    expect(api.all(workflows)).toEqual([]);
  });

  it('waits for an older version of the artifact to end', async () => {
    const old = artifactWorkflow('order-aaaaaaaaaaaaaaaa', {
      status: { phase: 'Running', workflowRef: { kind: 'Workflow', name: 'x', attempt: 1 } },
    });
    const api = new FakeApi([ready, deleted(old)]);
    await handle(contextOf(api), wakeOf(ready));
    expect(api.all(workflows)).toEqual([]);
    await api.client.mergePatch(artifactWorkflows, old.metadata, { metadata: { finalizers: [] } });
    await handle(contextOf(api), wakeOf(ready, 'slot'));
    expect(api.all(workflows).length).toBe(1);
  });

  it('starts one Workflow when two instances run at once, because one status write conflicts', async () => {
    const api = new FakeApi([ready]);
    const first = api.before;
    api.before = ({ verb, resource }) => {
      if (verb !== 'patch' || resource !== 'artifactworkflows') return;
      api.before = first;
      api.put(ready);
    };
    await expect(handle(contextOf(api), wakeOf(ready))).rejects.toMatchObject({ code: 'Conflict' });
    expect(api.all(workflows)).toEqual([]);
  });

  it('accepts its own Workflow that exists already', async () => {
    const api = new FakeApi([ready]);
    api.before = ({ verb }) => {
      if (verb === 'create') api.put(workflowOf(ready, name));
    };
    await handle(contextOf(api), wakeOf(ready));
    expect(api.all(events)).toEqual([]);
  });

  const statusOf = (api: FakeApi) => api.read(artifactWorkflows, key)?.status;

  it('says which foreign Workflow has the name, in the status and as a Warning', async () => {
    const foreign = artifactWorkflow('foreign');
    const api = new FakeApi([ready]);
    api.before = ({ verb, resource }) => {
      if (verb === 'create' && resource === 'workflows') api.put(workflowOf(foreign, name));
    };
    await handle(contextOf(api), wakeOf(ready));
    expect(api.all(events)[0]).toMatchObject({ reason: 'NameTaken', type: 'Warning' });
    const told = { waitReason: 'NameTaken', waitMessage: expect.stringContaining('another owner') };
    expect(statusOf(api)).toMatchObject(told);
    await handle(contextOf(api), wakeOf(ready, 'resync'));
    expect(statusOf(api)).toMatchObject(told);
  });

  it('says how to give it a namespace in which it may not create Workflows', async () => {
    const api = new FakeApi([ready]);
    const answer =
      'workflows.argoproj.io is forbidden: User "x" cannot create resource "workflows" in API group "argoproj.io"';
    api.before = ({ verb }) => {
      if (verb === 'create') throw new ArcError('Forbidden', answer);
    };
    await handle(contextOf(api), wakeOf(ready));
    expect(statusOf(api)).toMatchObject({
      waitReason: 'NamespaceNotGiven',
      waitMessage: expect.stringContaining('kubectl apply -k knative/tenant -n team'),
    });
  });

  it('says that Argo is not installed', async () => {
    const api = new FakeApi([ready]);
    api.before = ({ verb }) => {
      if (verb === 'create') throw new ArcError('NotFound', 'the server does not know workflows');
    };
    await handle(contextOf(api), wakeOf(ready));
    expect(statusOf(api)).toMatchObject({ waitReason: 'ArgoMissing' });
  });

  it('tries again for a Workflow without an account only when the account is there', async () => {
    const failed = artifactWorkflow(name, {
      status: {
        phase: 'Error',
        message:
          'error looking up service account team/arc-workflow: serviceaccount "arc-workflow" not found',
        attempts: 1,
        syncedAttempt: 1,
        configSecret: { name },
        workflowRef: { kind: 'Workflow', name, attempt: 1 },
        completionTime: '2026-01-01T23:00:00Z',
      },
    });
    const api = new FakeApi([failed, workflowOf(ready, name, { phase: 'Error' })]);
    await handle(contextOf(api), wakeOf(failed, 'due'));
    expect(api.writes).toEqual([]);
    api.put({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'arc-workflow', namespace } });
    await handle(contextOf(api), wakeOf(failed, 'due'));
    expect(api.read(workflows, { namespace, name: `${name}-2` })).toBeDefined();
  });

  it('says why Argo refuses the Workflow until it no longer does, and the same all the while', async () => {
    const api = new FakeApi([ready]);
    api.before = ({ verb, resource }) => {
      if (verb === 'create' && resource === 'workflows')
        throw new ArcError('Invalid', 'spec.hooks is not supported');
    };
    await handle(contextOf(api), wakeOf(ready));
    expect(api.all(events)[0]).toMatchObject({ reason: 'SubmissionFailed' });
    expect(api.all(events)[0]?.message).toContain('spec.hooks is not supported');
    const told = {
      waitReason: 'SubmissionFailed',
      waitMessage: expect.stringContaining('spec.hooks is not supported'),
    };
    expect(statusOf(api)).toMatchObject(told);
    const before = api.writes.length;
    await handle(contextOf(api), wakeOf(ready, 'resync'));
    expect(api.writes.length).toBe(before);
    api.before = () => undefined;
    await handle(contextOf(api), wakeOf(ready, 'resync'));
    expect(api.all(workflows)).toHaveLength(1);
    expect(statusOf(api)).not.toHaveProperty('waitReason');
    expect(statusOf(api)).not.toHaveProperty('waitMessage');
  });

  it('creates a CronWorkflow for a schedule', async () => {
    const cron = artifactWorkflow(name, { spec: { ...ready.spec, cron: { schedules: ['0 3 * * *'] } } });
    const api = new FakeApi([cron]);
    await handle(contextOf(api), wakeOf(cron));
    expect(api.all(cronWorkflows).map(({ spec }) => spec.suspend)).toEqual([undefined]);
    const before = api.writes.length;
    await handle(contextOf(api), wakeOf(cron, 'resync'));
    expect(api.writes.length).toBe(before);
  });

  it.each(['create', 'patch'])(
    'goes on after a crash before it could %s the Workflow, and leaves the suspension of anybody else alone',
    async (crash) => {
      const api = new FakeApi([ready]);
      api.before = ({ verb, resource }) => {
        if (verb === crash && resource === 'workflows') throw new ArcError('ServiceUnavailable', 'killed');
      };
      await expect(handle(contextOf(api), wakeOf(ready))).rejects.toMatchObject({ message: 'killed' });
      expect(api.all(workflows).filter(({ spec }) => spec.suspend !== true)).toEqual([]);
      api.before = () => undefined;
      await handle(contextOf(api), wakeOf(ready, 'resync'));
      expect(api.read(workflows, key)?.spec.suspend).toBeUndefined();
      await api.client.mergePatch(workflows, key, { spec: { suspend: true } });
      await handle(contextOf(api), wakeOf(ready, 'resync'));
      expect(api.read(workflows, key)?.spec.suspend).toBe(true);
    },
  );

  it('does not release the Workflow of an ArtifactWorkflow that was suspended after its creation', async () => {
    const api = new FakeApi([ready]);
    api.before = ({ verb, resource }) => {
      if (verb === 'patch' && resource === 'workflows') throw new ArcError('ServiceUnavailable', 'killed');
    };
    await expect(handle(contextOf(api), wakeOf(ready))).rejects.toMatchObject({ message: 'killed' });
    api.before = () => undefined;
    await api.client.mergePatch(artifactWorkflows, key, { spec: { suspend: true } });
    await handle(contextOf(api), wakeOf(ready));
    expect(api.read(workflows, key)?.spec.suspend).toBe(true);
    await api.client.mergePatch(artifactWorkflows, key, { spec: { suspend: null } });
    await handle(contextOf(api), wakeOf(ready));
    expect(api.read(workflows, key)?.spec.suspend).toBeUndefined();
  });

  describe('whose creation of the Workflow arrives late', () => {
    /** Handles a wake, and does `meanwhile` between its decision and its first write. */
    async function late(api: FakeApi, meanwhile: () => Promise<void>): Promise<unknown> {
      const { client } = api;
      const slow: typeof client = Object.create(client, {
        create: {
          value: async (...args: Parameters<typeof client.create>) => {
            await meanwhile();
            return client.create(...args);
          },
        },
      });
      return handle({ ...contextOf(api), api: slow }, wakeOf(ready)).catch((caught: unknown) => caught);
    }

    it('lets nothing run after the ArtifactWorkflow was deleted and let go', async () => {
      const api = new FakeApi([ready]);
      await late(api, async () => {
        await api.client.delete(artifactWorkflows, key);
        await handle(contextOf(api), wakeOf(ready));
        expect(api.read(artifactWorkflows, key)).toBeUndefined();
      });
      expect(api.all(workflows)).toEqual([]);
    });

    it('lets nothing run again after a Workflow was deleted and its ArtifactWorkflow too', async () => {
      const api = new FakeApi([ready]);
      await handle(contextOf(api), wakeOf(ready));
      await api.client.delete(workflows, key);
      await late(api, async () => {
        await api.client.delete(artifactWorkflows, key);
        await handle(contextOf(api), wakeOf(ready));
      });
      expect(api.all(workflows)).toEqual([]);
    });

    it('lets nothing run of an ArtifactWorkflow that is being deleted, which waits until the Workflow is gone', async () => {
      const api = new FakeApi([ready]);
      api.time = '2026-01-01T23:59:50Z';
      await late(api, async () => {
        await api.client.delete(artifactWorkflows, key);
      });
      expect(api.read(workflows, key)?.spec.suspend).toBe(true);
      await handle(contextOf(api), wakeOf(ready));
      expect(api.all(workflows)).toEqual([]);
      expect(api.read(artifactWorkflows, key)).toBeDefined();
      await handle(contextOf(api), wakeOf(ready, 'gone'));
      expect(api.read(artifactWorkflows, key)).toBeUndefined();
    });

    it('stops a Workflow, and does not delete it, that was released while its deletion was under way', async () => {
      const going = deleted(ready);
      const api = new FakeApi([going, unreleased(workflowOf(ready, name))]);
      api.before = ({ verb, resource }) => {
        if (verb !== 'delete' || resource !== 'workflows') return;
        api.before = () => undefined;
        api.put(workflowOf(ready, name, { phase: 'Running' }));
      };
      await expect(handle(contextOf(api), wakeOf(going))).rejects.toMatchObject({ code: 'Conflict' });
      await handle(contextOf(api), wakeOf(going));
      expect(api.read(workflows, key)?.spec.shutdown).toBe('Terminate');
    });

    it('releases no other Workflow that has its name now', async () => {
      const api = new FakeApi([ready]);
      api.before = ({ verb, resource }) => {
        if (verb !== 'patch' || resource !== 'workflows') return;
        api.before = () => undefined;
        api.remove(workflows, key);
        api.put(unreleased(workflowOf(artifactWorkflow('another'), name)));
      };
      await expect(handle(contextOf(api), wakeOf(ready))).rejects.toMatchObject({ code: 'Conflict' });
      expect(api.read(workflows, key)?.spec.suspend).toBe(true);
    });
  });

  it('suspends a CronWorkflow with its ArtifactWorkflow', async () => {
    const cron = artifactWorkflow(name, { spec: { ...ready.spec, cron: { schedules: ['0 3 * * *'] } } });
    const api = new FakeApi([cron]);
    await handle(contextOf(api), wakeOf(cron));
    const held = api.read(artifactWorkflows, key) ?? cron;
    api.put({ ...held, spec: { ...held.spec, suspend: true } });
    await handle(contextOf(api), wakeOf(cron));
    expect(api.all(cronWorkflows)[0]?.spec.suspend).toBe(true);
  });

  it('stops the Workflow of a deleted ArtifactWorkflow and removes the finalizer when it has ended', async () => {
    const going = deleted(
      artifactWorkflow(name, { status: { workflowRef: { kind: 'Workflow', name, attempt: 1 } } }),
    );
    const api = new FakeApi([going, workflowOf(ready, name, { phase: 'Running' })]);
    await handle(contextOf(api), wakeOf(going));
    expect(api.read(workflows, key)?.spec.shutdown).toBe('Terminate');
    expect(api.read(artifactWorkflows, key)).toBeDefined();
    api.put(workflowOf(ready, name, { phase: 'Failed' }));
    await handle(contextOf(api), wakeOf(going, 'workflow'));
    expect(api.read(artifactWorkflows, key)).toBeUndefined();
  });

  it('removes the finalizer when the Workflow is gone, or when Argo does not end it in time', async () => {
    const going = deleted(ready);
    const api = new FakeApi([going]);
    await handle(contextOf(api), wakeOf(going));
    expect(api.read(artifactWorkflows, key)).toBeUndefined();

    const old = stopping(ready);
    const stuck = new FakeApi([old, workflowOf(ready, name, { phase: 'Running' })]);
    await handle(contextOf(stuck), wakeOf(old, 'due'));
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
      await handle(contextOf(api), wakeOf(running));
      const stopped = workflowOf(ready, name, { phase: 'Failed' });
      api.put({ ...stopped, spec: { shutdown: 'Terminate' } });
      const again = () => api.client.create(artifactWorkflows, { ...ready, status: {} });
      for (const wake of [wakeOf(running, 'workflow'), wakeOf(running, 'changed')])
        await expect(handle(contextOf(api), wake)).rejects.toMatchObject({
          code: 'Conflict',
          message: expect.stringContaining('pod "pod" of a Workflow that was stopped has not ended'),
        });
      // A resync comes again by itself, and the Workflow may be gone by then.
      await api.client.delete(workflows, key);
      await handle(contextOf(api), wakeOf(running, 'resync'));
      await expect(again()).rejects.toMatchObject({ code: 'AlreadyExists' });
      api.put(pod('Failed'));
      await handle(contextOf(api), wakeOf(running));
      expect((await again()).metadata.name).toBe(name);
    });

    it('does not hold it for ever', async () => {
      const old = stopping(running);
      const api = new FakeApi([old, pod('Running')]);
      await handle(contextOf(api), wakeOf(old, 'due'));
      expect(api.read(artifactWorkflows, key)).toBeUndefined();
    });

    it('holds up the next attempt, and whatever writes to the same place', async () => {
      const api = new FakeApi([pod('Running'), { ...ready, metadata: { ...ready.metadata, name: 'next' } }]);
      const next = { namespace, name: 'next' };
      const time = { lastTransitionTime: '2026-01-01T23:59:58Z', message: '', status: 'False' as const };
      const conditions = [{ type: 'Reconciling', reason: 'Stopped', ...time }];
      api.put({ ...running, status: { ...running.status, phase: 'Stopped', syncedAttempt: 1, conditions } });
      const wake = { ...wakeOf(ready, 'slot'), name: 'next' };
      await expect(handle(contextOf(api), wake)).rejects.toMatchObject({ code: 'Conflict' });
      expect(api.read(artifactWorkflows, next)?.status?.waitMessage).toContain('pod "pod"');
      expect(api.all(workflows)).toEqual([]);
      api.put(pod('Succeeded'));
      await handle(contextOf(api), wake);
      expect(api.all(workflows).map(({ metadata }) => metadata.name)).toEqual(['next']);
      expect(api.read(artifactWorkflows, next)?.status?.waitMessage).toBeUndefined();
    });

    it('holds up a Workflow that is made again because somebody deleted it, but not for a pod on a lost node', async () => {
      const api = new FakeApi([ready]);
      await handle(contextOf(api), wakeOf(ready));
      await api.client.delete(workflows, key);
      api.put(pod('Running'));
      await expect(handle(contextOf(api), wakeOf(ready, 'gone'))).rejects.toMatchObject({ code: 'Conflict' });
      expect(api.all(workflows)).toEqual([]);
      const lost = { ...pod('Running').metadata, deletionTimestamp: '2026-01-01T23:58:00Z' };
      api.put({ ...pod('Running'), metadata: lost });
      const waited = (seconds: number) => contextOf(api, new Date(Date.UTC(2026, 0, 2, 0, 0, seconds)));
      await expect(handle(waited(119), wakeOf(ready))).rejects.toMatchObject({ code: 'Conflict' });
      await handle(waited(120), wakeOf(ready));
      expect(api.all(workflows).length).toBe(1);
    });

    it("goes though Argo's kinds are gone", async () => {
      const api = new FakeApi([deleted(running)]);
      api.before = ({ resource, verb }) => {
        if (resource === 'workflows') throw new ArcError('NotFound', `404 page not found (${verb})`);
      };
      await handle(contextOf(api), wakeOf(running));
      expect(api.read(artifactWorkflows, key)).toBeUndefined();
    });

    it('asks for no pods where nothing was stopped, and does without where there are none', async () => {
      const asked: string[] = [];
      const api = new FakeApi([ready]);
      api.before = ({ verb, resource }) => {
        asked.push(`${verb} ${resource}`);
        if (resource === 'pods') throw new ArcError('NotFound', '404 page not found');
      };
      await handle(contextOf(api), wakeOf(ready));
      api.put({ ...running, status: { ...running.status, phase: 'Succeeded', syncedAttempt: 1 } });
      api.put(workflowOf(running, name, { phase: 'Succeeded' }));
      await api.client.delete(artifactWorkflows, key);
      await handle(contextOf(api), wakeOf(ready));
      expect(api.read(artifactWorkflows, key)).toBeUndefined();
      expect(asked).not.toContain('list pods');
      const going = deleted(running);
      api.remove(workflows, key);
      api.put(going);
      await handle(contextOf(api), wakeOf(going));
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
      await expect(handle(contextOf(api), wakeOf(finished))).rejects.toMatchObject({
        code: 'Conflict',
        message: expect.stringContaining('the status of its Order does not show yet how it ended'),
      });
      await handle(contextOf(api), wakeOf(finished, 'resync'));
      expect(api.read(artifactWorkflows, key)).toBeDefined();
      api.put({ ...one, status: { artifactWorkflows: recorded } });
      await handle(contextOf(api), wakeOf(finished, 'resync'));
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
      await handle(contextOf(api), wakeOf(finished));
      expect(api.read(artifactWorkflows, key)).toBeUndefined();
    });

    it('does not wait where a later version is there', async () => {
      const later = artifactWorkflow('order-aaaaaaaaaaaaaaaa', { spec: { ...ready.spec, revision: 2 } });
      const api = new FakeApi([order('order', ['team/app:1.0']), later, finished]);
      await handle(contextOf(api), wakeOf(finished));
      expect(api.read(artifactWorkflows, key)).toBeUndefined();
    });
  });

  it('says once, to both, that it overwrites what another Order has put in place', async () => {
    const place = { 'arc.opendefense.cloud/target': 'place' };
    const at = (one: ArtifactWorkflow, labels: object, owner: string) => ({
      ...one,
      metadata: {
        ...one.metadata,
        labels: { ...place, ...labels },
        ownerReferences: [{ apiVersion: one.apiVersion, kind: 'Order', name: owner, uid: `uid-${owner}` }],
      },
    });
    const status = { phase: 'Succeeded', completionTime: '2026-01-01T23:00:00Z' } as const;
    const first = at(artifactWorkflow('first-0123456789abcdef', { status }), {}, 'first');
    const second = at(ready, {}, 'second');
    const api = new FakeApi([first, second]);
    const asked: string[] = [];
    api.before = ({ verb, resource }) => asked.push(`${verb} ${resource}`);
    await handle(contextOf(api), wakeOf(second));
    expect(api.all(workflows).length).toBe(1);
    expect(asked.filter((one) => one === 'list artifactworkflows').length).toBe(1);
    expect(asked).not.toContain('get orders');
    await api.client.delete(workflows, key);
    await handle(contextOf(api), wakeOf(second));
    expect(
      api.all(events).map(({ involvedObject: { kind, name }, message }) => ({ kind, name, message })),
    ).toEqual([
      {
        kind: 'ArtifactWorkflow',
        name: second.metadata.name,
        message:
          'writes to the same place as ArtifactWorkflow "first-0123456789abcdef" of Order "first", which had succeeded: what is there is overwritten',
      },
      {
        kind: 'Order',
        name: 'first',
        message:
          'ArtifactWorkflow "order-0123456789abcdef" of Order "second" overwrites what ArtifactWorkflow "first-0123456789abcdef" has put in place',
      },
    ]);
    expect(api.all(events)).toMatchObject([
      { reason: 'TargetShared', type: 'Normal', count: 1 },
      { count: 1 },
    ]);
  });

  it('says nothing of other versions of its own Order', async () => {
    const old = artifactWorkflow('order-aaaaaaaaaaaaaaaa', { status: { phase: 'Succeeded' } });
    const api = new FakeApi([old, ready]);
    await handle(contextOf(api), wakeOf(ready));
    expect(api.all(workflows).length).toBe(1);
    expect(api.all(events)).toEqual([]);
  });

  it('writes when the next attempt is due and starts it then', async () => {
    const failed = artifactWorkflow(name, {
      spec: { ...ready.spec, retry: { limit: 1, backoff: '60s' } },
      status: {
        phase: 'Failed',
        attempts: 1,
        syncedAttempt: 1,
        configSecret: { name },
        workflowRef: { kind: 'Workflow', name, attempt: 1 },
        completionTime: '2026-01-01T23:59:30Z',
      },
    });
    const api = new FakeApi([failed, workflowOf(ready, name, { phase: 'Failed' })]);
    await handle(contextOf(api), wakeOf(failed, 'failed'));
    expect(api.read(artifactWorkflows, key)?.status?.nextAttemptTime).toBe('2026-01-02T00:00:30Z');
    await handle(contextOf(api, new Date('2026-01-02T00:00:30Z')), wakeOf(failed, 'due'));
    expect(api.read(workflows, { namespace, name: `${name}-2` })).toBeDefined();
    expect(api.read(artifactWorkflows, key)?.status).toMatchObject({ attempts: 2 });
    expect(api.read(artifactWorkflows, key)?.status?.nextAttemptTime).toBeUndefined();
  });
});
