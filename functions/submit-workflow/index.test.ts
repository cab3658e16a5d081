import { describe, expect, it } from 'vitest';
import {
  type ArtifactWorkflow,
  artifactWorkflows,
  cronWorkflows,
  events,
  finalizers,
  labels,
  workflows,
} from '#shared/domain';
import type { KubeClient } from '#shared/kubernetes/client';
import { contextOf, eventOf } from '../../shared/conduit/runtime/testing/handler-context.ts';
import { artifactWorkflow, namespace, workflowOf } from '../../shared/domain/testing/objects.ts';
import { FakeApi } from '../../shared/kubernetes/client/testing/fake-api/fake-api.ts';
import { handle } from './index.ts';

const name = 'order-0123456789abcdef';
const key = { namespace, name };
const ready = artifactWorkflow(name);

function deleted(workflow: ArtifactWorkflow, at = '2026-01-01T23:59:50Z'): ArtifactWorkflow {
  return { ...workflow, metadata: { ...workflow.metadata, deletionTimestamp: at } };
}

describe('submit-workflow', () => {
  it('records the Workflow, creates it suspended, then releases it, in one delivery', async () => {
    const api = new FakeApi([ready]);
    await handle(contextOf(api), eventOf(ready));
    expect(api.writes).toMatchObject([
      { verb: 'patch', resource: 'artifactworkflows', subresource: 'status' },
      { verb: 'create', resource: 'workflows', body: { spec: { suspend: true } } },
      { verb: 'patch', resource: 'workflows', body: { spec: { suspend: null } } },
    ]);
    expect(api.read(workflows, key)?.spec.suspend).toBeUndefined();
    expect(api.read(artifactWorkflows, key)?.status).toMatchObject({ attempts: 1, workflowRef: { name } });
    expect(api.read(workflows, key)?.metadata.ownerReferences?.[0]?.uid).toBe(ready.metadata.uid);
  });

  it('passes the trace of the event to the Workflow', async () => {
    const api = new FakeApi([ready]);
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    await handle({ ...contextOf(api), trace: { traceparent, tracestate: 'a=b' } }, eventOf(ready));
    expect(api.read(workflows, key)?.metadata.annotations).toMatchObject({
      'arc.opendefense.cloud/traceparent': traceparent,
    });
  });

  it('writes nothing the second time', async () => {
    const api = new FakeApi([ready]);
    await handle(contextOf(api), eventOf(ready));
    const before = api.writes.length;
    await handle(contextOf(api), eventOf(ready));
    expect(api.writes.length).toBe(before);
  });

  it('creates the same Workflow again after its deletion, or after a crash before its creation', async () => {
    const api = new FakeApi([ready]);
    await handle(contextOf(api), eventOf(ready));
    await api.client.delete(workflows, key);
    const before = api.writes.length;
    await handle(contextOf(api), eventOf(ready));
    expect(api.writes.slice(before).map(({ verb, resource }) => `${verb} ${resource}`)).toEqual([
      'create workflows',
      'patch workflows',
    ]);
  });

  it('writes nothing while its Workflow runs, and recreates it when it is gone', async () => {
    const api = new FakeApi([ready]);
    await handle(contextOf(api), eventOf(ready));
    const before = api.writes.length;
    await handle(contextOf(api), eventOf(ready));
    expect(api.writes.length).toBe(before);
    await api.client.delete(workflows, key);
    await handle(contextOf(api), eventOf(ready));
    expect(api.all(workflows).length).toBe(1);
  });

  it('waits for the configuration', async () => {
    const bare = artifactWorkflow(name, { status: {} });
    const api = new FakeApi([bare]);
    await handle(contextOf(api), eventOf(bare));
    expect(api.writes).toEqual([]);
  });

  it('adds its finalizer to an ArtifactWorkflow made by hand before it creates anything', async () => {
    const bare = artifactWorkflow(name, { metadata: { ...ready.metadata, finalizers: [] } });
    const api = new FakeApi([bare]);
    await handle(contextOf(api), eventOf(bare));
    expect(api.read(artifactWorkflows, key)?.metadata.finalizers).toEqual([finalizers.workflow]);
    expect(api.all(workflows)).toEqual([]);
  });

  it('waits for an older version of the artifact to end', async () => {
    const old = artifactWorkflow('order-aaaaaaaaaaaaaaaa', {
      status: { phase: 'Running', workflowRef: { kind: 'Workflow', name: 'x', attempt: 1 } },
    });
    const api = new FakeApi([ready, deleted(old)]);
    await handle(contextOf(api), eventOf(ready));
    expect(api.all(workflows)).toEqual([]);
    await api.client.mergePatch(artifactWorkflows, old.metadata, { metadata: { finalizers: [] } });
    await handle(contextOf(api), eventOf(ready));
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
    await expect(handle(contextOf(api), eventOf(ready))).rejects.toMatchObject({ code: 'Conflict' });
    expect(api.all(workflows)).toEqual([]);
  });

  it('starts one Workflow of two Orders with one target, created in the same second while one of them starts', async () => {
    const at = (one: ArtifactWorkflow) => {
      const metadata = { ...one.metadata, labels: { [labels.target]: 'place' } };
      return { ...one, metadata: { ...metadata, creationTimestamp: '2026-01-01T23:59:50Z' } };
    };
    const [first, second] = [at(artifactWorkflow('a-0123456789abcdef')), at(ready)];
    const api = new FakeApi([second]);
    const context = contextOf(api);
    const list: KubeClient['list'] = async (...asked) => {
      const found = await context.api.list(...asked);
      // The other one comes when this one has looked, and before it writes.
      if (!api.read(artifactWorkflows, first.metadata)) {
        api.put(first);
        await handle(context, eventOf(first));
      }
      return found;
    };
    await expect(
      handle({ ...context, api: { ...context.api, list } }, eventOf(second)),
    ).rejects.toMatchObject({ code: 'Conflict' });
    await handle(contextOf(api), eventOf(second));
    expect(api.all(workflows).map(({ metadata }) => metadata.name)).toEqual([first.metadata.name]);
    expect(api.read(artifactWorkflows, key)?.status).toMatchObject({
      waitReason: 'PlaceInUse',
      waitMessage: 'ArtifactWorkflow "a-0123456789abcdef", which writes to the same place, has not ended',
    });
  });

  it('accepts its own Workflow that exists already', async () => {
    const api = new FakeApi([ready]);
    api.before = ({ verb }) => {
      if (verb === 'create') api.put(workflowOf(ready, name));
    };
    await handle(contextOf(api), eventOf(ready));
    expect(api.all(events)).toEqual([]);
  });

  it('creates a CronWorkflow for a schedule', async () => {
    const cron = artifactWorkflow(name, { spec: { ...ready.spec, cron: { schedules: ['0 3 * * *'] } } });
    const api = new FakeApi([cron]);
    await handle(contextOf(api), eventOf(cron));
    expect(api.all(cronWorkflows).map(({ spec }) => spec.suspend)).toEqual([undefined]);
    const before = api.writes.length;
    await handle(contextOf(api), eventOf(cron));
    expect(api.writes.length).toBe(before);
  });

  it('suspends a CronWorkflow with its ArtifactWorkflow', async () => {
    const cron = artifactWorkflow(name, { spec: { ...ready.spec, cron: { schedules: ['0 3 * * *'] } } });
    const api = new FakeApi([cron]);
    await handle(contextOf(api), eventOf(cron));
    const held = api.read(artifactWorkflows, key) ?? cron;
    api.put({ ...held, spec: { ...held.spec, suspend: true } });
    await handle(contextOf(api), eventOf(cron));
    expect(api.all(cronWorkflows)[0]?.spec.suspend).toBe(true);
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
    await handle(contextOf(api), eventOf(second));
    expect(api.all(workflows).length).toBe(1);
    expect(asked.filter((one) => one === 'list artifactworkflows').length).toBe(1);
    expect(asked).not.toContain('get orders');
    await api.client.delete(workflows, key);
    await handle(contextOf(api), eventOf(second));
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
    await handle(contextOf(api), eventOf(ready));
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
        completionTime: '2026-01-01T23:00:00Z',
      },
    });
    const api = new FakeApi([failed, workflowOf(ready, name, { phase: 'Failed' })]);
    await handle(contextOf(api), eventOf(failed));
    expect(api.read(artifactWorkflows, key)?.status?.nextAttemptTime).toBe('2026-01-02T00:01:00Z');
    await handle(contextOf(api), eventOf(failed));
    expect(api.all(events)).toMatchObject([
      { type: 'Normal', reason: 'Retrying', message: 'attempt 2 follows at 2026-01-02T00:01:00Z', count: 1 },
    ]);
    await handle(contextOf(api, new Date('2026-01-02T00:01:00Z')), eventOf(failed));
    expect(api.read(workflows, { namespace, name: `${name}-2` })).toBeDefined();
    expect(api.read(artifactWorkflows, key)?.status).toMatchObject({ attempts: 2 });
    expect(api.read(artifactWorkflows, key)?.status?.nextAttemptTime).toBeUndefined();
  });
});
