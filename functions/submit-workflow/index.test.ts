import { describe, expect, it } from 'vitest';
import {
  type ArtifactWorkflow,
  artifactWorkflows,
  cronWorkflows,
  events,
  finalizers,
  workflows,
} from '#shared/domain';
import { ArcError } from '#shared/errors';
import { FakeApi } from '../../shared/kube/testing/fake-api/fake-api.ts';
import { contextOf, wakeOf } from '../../shared/runtime/testing/handler-context.ts';
import { artifactWorkflow, namespace, workflowOf } from '../../test/fixtures/arc-objects.ts';
import { handle } from './index.ts';

const name = 'order-0123456789abcdef';
const key = { namespace, name };
const ready = artifactWorkflow(name);

function deleted(workflow: ArtifactWorkflow, at = '2026-01-01T23:59:50Z'): ArtifactWorkflow {
  return { ...workflow, metadata: { ...workflow.metadata, deletionTimestamp: at } };
}

describe('submit-workflow', () => {
  it('writes which Workflow is meant, then creates it', async () => {
    const api = new FakeApi([ready]);
    await handle(contextOf(api), wakeOf(ready, 'rendered'));
    expect(api.writes).toMatchObject([
      { verb: 'patch', resource: 'artifactworkflows', subresource: 'status' },
      { verb: 'create', resource: 'workflows' },
    ]);
    expect(api.read(artifactWorkflows, key)?.status).toMatchObject({ attempts: 1, workflowRef: { name } });
    expect(api.read(workflows, key)?.metadata.ownerReferences?.[0]?.uid).toBe(ready.metadata.uid);
  });

  it('carries the trace of the wake on to the Workflow', async () => {
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

  it('makes the same Workflow again when it was deleted, or a crash came before its creation', async () => {
    const api = new FakeApi([ready]);
    await handle(contextOf(api), wakeOf(ready));
    await api.client.delete(workflows, key);
    const before = api.writes.length;
    await handle(contextOf(api), wakeOf(ready, 'gone'));
    expect(api.writes.slice(before).map(({ verb, name }) => `${verb} ${name}`)).toEqual([`create ${name}`]);
  });

  it('reads no Workflow for the news of one that is under way, and repairs when it is told that it is gone', async () => {
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

  it('puts its finalizer on one that was made by hand before anything is created', async () => {
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

  it('cannot start two when it runs twice at once: the second loses the race for the status', async () => {
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

  it('takes its own Workflow that exists already as created', async () => {
    const api = new FakeApi([ready]);
    api.before = ({ verb }) => {
      if (verb === 'create') api.put(workflowOf(ready, name));
    };
    await handle(contextOf(api), wakeOf(ready));
    expect(api.all(events)).toEqual([]);
  });

  it('tells when the name is taken by a foreign Workflow', async () => {
    const stranger = artifactWorkflow('stranger');
    const api = new FakeApi([ready]);
    api.before = ({ verb, resource }) => {
      if (verb === 'create' && resource === 'workflows') api.put(workflowOf(stranger, name));
    };
    await handle(contextOf(api), wakeOf(ready));
    expect(api.all(events)[0]).toMatchObject({ reason: 'NameTaken', type: 'Warning' });
  });

  it('tells what Argo refuses', async () => {
    const api = new FakeApi([ready]);
    api.before = ({ verb, resource }) => {
      if (verb === 'create' && resource === 'workflows')
        throw new ArcError('Invalid', 'spec.hooks is not supported');
    };
    await handle(contextOf(api), wakeOf(ready));
    expect(api.all(events)[0]).toMatchObject({ reason: 'SubmissionFailed' });
    expect(api.all(events)[0]?.message).toContain('spec.hooks is not supported');
  });

  it('creates a CronWorkflow where there is a schedule', async () => {
    const cron = artifactWorkflow(name, { spec: { ...ready.spec, cron: { schedules: ['0 3 * * *'] } } });
    const api = new FakeApi([cron]);
    await handle(contextOf(api), wakeOf(cron));
    expect(api.all(cronWorkflows).length).toBe(1);
    const before = api.writes.length;
    await handle(contextOf(api), wakeOf(cron, 'resync'));
    expect(api.writes.length).toBe(before);
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

  it('stops the Workflow of one that is deleted, and lets go when it has ended', async () => {
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

  it('lets go of one that is deleted when its Workflow is gone, and of one that Argo does not end', async () => {
    const going = deleted(ready);
    const api = new FakeApi([going]);
    await handle(contextOf(api), wakeOf(going));
    expect(api.read(artifactWorkflows, key)).toBeUndefined();

    const old = deleted(ready, '2026-01-01T00:00:00Z');
    const stuck = new FakeApi([old, workflowOf(ready, name, { phase: 'Running' })]);
    await handle(contextOf(stuck), wakeOf(old, 'due'));
    expect(stuck.read(artifactWorkflows, key)).toBeUndefined();
  });

  it('writes when the next attempt is due, and makes it then', async () => {
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
