import { describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { artifactWorkflows, type CronWorkflow, events, pods, workflows } from '#shared/domain';
import { contextOf, eventOf } from '../../shared/conduit/runtime/testing/handler-context.ts';
import { cronWorkflowName } from '../../shared/domain/identity/names.ts';
import { artifactWorkflow, namespace, workflowOf } from '../../shared/domain/testing/objects.ts';
import { FakeApi } from '../../shared/kubernetes/client/testing/fake-api/fake-api.ts';
import { handle } from './index.ts';

const name = 'order-0123456789abcdef';
const key = { namespace, name };
const submitted = artifactWorkflow(name, {
  status: { attempts: 1, workflowRef: { kind: 'Workflow', name, attempt: 1 }, configSecret: { name } },
});

describe('sync-status', () => {
  it('copies phase and progress and leaves the fields of other functions alone', async () => {
    const running = workflowOf(submitted, name, {
      phase: 'Running',
      progress: '3/10',
      startedAt: '2026-01-01T00:00:00Z',
    });
    const api = new FakeApi([submitted, running]);
    await handle(contextOf(api), eventOf(submitted));
    expect(api.read(artifactWorkflows, key)?.status).toMatchObject({
      phase: 'Running',
      progress: '3/10',
      configSecret: { name },
      attempts: 1,
    });
  });

  it('writes nothing the second time', async () => {
    const api = new FakeApi([submitted, workflowOf(submitted, name, { phase: 'Running' })]);
    await handle(contextOf(api), eventOf(submitted));
    const before = api.writes.length;
    await handle(contextOf(api), eventOf(submitted));
    expect(api.writes.length).toBe(before);
  });

  it('says that schedules are switched off where it may not read CronWorkflows, and no more when it may', async () => {
    const cronRef = { kind: 'CronWorkflow' as const, name, attempt: 1 };
    const scheduled = artifactWorkflow(name, {
      spec: { ...submitted.spec, cron: { schedules: ['@daily'] } },
      status: { ...submitted.status, workflowRef: cronRef, phase: 'Active', syncedAttempt: 1, succeeded: 3 },
    });
    const argo: CronWorkflow = {
      ...workflowOf(scheduled, name, {}),
      kind: 'CronWorkflow',
      spec: { schedules: ['@daily'] },
      status: {},
    } as CronWorkflow;
    const api = new FakeApi([scheduled, argo]);
    let isForbidden = true;
    api.before = ({ resource }) => {
      if (isForbidden && resource === 'cronworkflows')
        throw new ArcError('Forbidden', 'cronworkflows is forbidden: cannot get resource "cronworkflows"');
    };
    await handle(contextOf(api), eventOf(scheduled));
    const status = () => api.read(artifactWorkflows, key)?.status;
    expect(status()).toMatchObject({ phase: 'Pending', succeeded: 3 });
    expect(status()?.message).toContain('schedules are switched off');
    expect(status()?.conditions).toContainEqual(expect.objectContaining({ type: 'Ready', status: 'False' }));
    isForbidden = false;
    await handle(contextOf(api), eventOf(scheduled));
    expect(status()).toMatchObject({ phase: 'Active', succeeded: 3 });
    expect(status()?.message).toBeUndefined();
  });

  it('keeps the status when the Workflow is gone', async () => {
    const api = new FakeApi([submitted]);
    await handle(contextOf(api), eventOf(submitted));
    expect(api.writes).toEqual([]);
  });

  it('ends one at once that is cancelled and has no Workflow', async () => {
    const bare = artifactWorkflow(name, { spec: { ...submitted.spec, cancel: true }, status: {} });
    const api = new FakeApi([bare]);
    await handle(contextOf(api), eventOf(bare));
    expect(api.read(artifactWorkflows, key)?.status).toMatchObject({ phase: 'Cancelled' });
    expect(api.all(events)).toMatchObject([{ type: 'Normal', reason: 'Cancelled', message: 'cancelled' }]);
    const before = api.writes.length;
    await handle(contextOf(api), eventOf(bare));
    expect(api.writes.length).toBe(before);
  });

  it('calls one Cancelled when its pod has ended, and not when Argo says that its Workflow has', async () => {
    const stopped = artifactWorkflow(name, {
      spec: { ...submitted.spec, cancel: true },
      status: { ...submitted.status, phase: 'Running', syncedAttempt: 1 },
    });
    const ended = {
      ...workflowOf(stopped, name, { phase: 'Failed' }),
      spec: { shutdown: 'Terminate' as const },
    };
    const labels = { 'workflows.argoproj.io/workflow': name };
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'pod', namespace, labels } };
    const api = new FakeApi([stopped, ended, { ...pod, status: { phase: 'Running' } }]);
    await handle(contextOf(api), eventOf(stopped));
    expect(api.read(artifactWorkflows, key)?.status).toMatchObject({
      phase: 'Running',
      message: 'stopping: pod "pod" has not ended',
    });
    // Without its Workflow too, which submit-workflow deletes then.
    api.remove(workflows, key);
    await handle(contextOf(api), eventOf(stopped));
    expect(api.read(artifactWorkflows, key)?.status?.phase).toBe('Running');
    api.remove(pods, { name: 'pod', namespace });
    await handle(contextOf(api), eventOf(stopped));
    expect(api.read(artifactWorkflows, key)?.status).toMatchObject({
      phase: 'Cancelled',
      message: 'cancelled',
    });
  });

  it('takes the word of Argo for the end of one that is cancelled, where it may not look at pods', async () => {
    const stopped = artifactWorkflow(name, {
      spec: { ...submitted.spec, cancel: true },
      status: { ...submitted.status, phase: 'Running', syncedAttempt: 1 },
    });
    const ended = workflowOf(stopped, name, { phase: 'Failed' });
    const api = new FakeApi([stopped, { ...ended, spec: { shutdown: 'Terminate' } }]);
    api.before = ({ resource }) => {
      if (resource === 'pods')
        throw new ArcError('Forbidden', 'pods is forbidden: User "sync-status" cannot list resource "pods"');
    };
    await handle(contextOf(api), eventOf(stopped));
    expect(api.read(artifactWorkflows, key)?.status?.phase).toBe('Cancelled');
  });

  it.each(['Succeeded', 'Failed'] as const)('ignores a foreign Workflow that %s', async (phase) => {
    // Made by hand under the name that ours is going to have, or left by an ArtifactWorkflow before this one.
    const { attempts: _none, workflowRef: _unset, ...rendered } = submitted.status ?? {};
    for (const status of [submitted.status ?? {}, rendered]) {
      const before = artifactWorkflow(name, { metadata: { ...submitted.metadata, uid: 'uid-before' } });
      const api = new FakeApi([{ ...submitted, status }, workflowOf(before, name, { phase })]);
      await handle(contextOf(api), eventOf(submitted));
      expect(api.writes).toEqual([]);
    }
  });

  it('records a failure once, with its message', async () => {
    const failed = workflowOf(submitted, name, {
      phase: 'Failed',
      message: 'the registry answered 401',
      finishedAt: '2026-01-01T00:05:00Z',
    });
    const api = new FakeApi([submitted, failed]);
    await handle(contextOf(api), eventOf(submitted));
    await handle(contextOf(api), eventOf(submitted));
    expect(api.read(artifactWorkflows, key)?.status).toMatchObject({
      phase: 'Failed',
      completionTime: '2026-01-01T00:05:00Z',
    });
    const recorded = api.all(events);
    expect(recorded.length).toBe(1);
    expect(recorded[0]).toMatchObject({ reason: 'Failed', count: 1 });
    expect(recorded[0]?.message).toContain('the registry answered 401');
  });

  it('rejects with Conflict when the ArtifactWorkflow has changed', async () => {
    const api = new FakeApi([submitted, workflowOf(submitted, name, { phase: 'Running' })]);
    api.before = ({ verb }) => {
      if (verb === 'patch') api.put(submitted);
    };
    await expect(handle(contextOf(api), eventOf(submitted))).rejects.toMatchObject({
      code: 'Conflict',
    });
  });

  it('writes nothing when the ArtifactWorkflow is deleted before the write', async () => {
    const api = new FakeApi([submitted, workflowOf(submitted, name, { phase: 'Running' })]);
    api.before = ({ verb }) => {
      if (verb === 'patch') api.remove(artifactWorkflows, submitted.metadata);
    };
    await handle(contextOf(api), eventOf(submitted));
    expect(api.writes).toEqual([]);
  });

  it('reads a schedule although Argo is uninstalled meanwhile', async () => {
    const scheduled = artifactWorkflow(name, {
      spec: { ...submitted.spec, cron: { schedules: ['@daily'] } },
      status: { workflowRef: { kind: 'CronWorkflow', name, attempt: 1 } },
    });
    const argo = {
      ...workflowOf(scheduled, name, {}),
      kind: 'CronWorkflow',
      spec: { schedules: ['@daily'] },
      status: { succeeded: 1 },
    };
    const api = new FakeApi([scheduled, argo]);
    api.before = ({ resource }) => {
      if (resource === 'workflows') throw new ArcError('NotFound', '404 page not found');
    };
    await handle(contextOf(api), eventOf(scheduled));
    expect(api.read(artifactWorkflows, key)?.status).toMatchObject({ phase: 'Active', succeeded: 1 });
  });

  it('computes the status of a schedule from its CronWorkflow and the newest run', async () => {
    const scheduled = artifactWorkflow(name, {
      spec: { ...submitted.spec, cron: { schedules: ['0 3 * * *'] } },
      status: { workflowRef: { kind: 'CronWorkflow', name, attempt: 1 } },
    });
    const cron: CronWorkflow = {
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'CronWorkflow',
      metadata: { ...workflowOf(scheduled, name).metadata, uid: 'uid-cron' },
      spec: { workflowSpec: {} },
      status: { lastScheduledTime: '2026-01-01T03:00:00Z', succeeded: 4, active: [] },
    };
    const schedule = { apiVersion: cron.apiVersion, kind: cron.kind, name, uid: 'uid-cron' };
    const runs = ['2026-01-01T03:00:00Z', '2026-01-02T03:00:00Z', '2026-01-03T03:00:00Z'].map(
      (creationTimestamp, index) => {
        const run = workflowOf(scheduled, `${name}-${index}`, {
          phase: index === 0 ? 'Succeeded' : 'Failed',
          message: index === 2 ? 'of a foreign Workflow' : 'no',
        });
        return {
          ...run,
          metadata: {
            ...run.metadata,
            creationTimestamp,
            labels: { 'arc.opendefense.cloud/artifact-workflow': name },
            // Anybody can write the label of the last.
            ownerReferences: index === 2 ? [] : [schedule],
          },
        };
      },
    );
    const api = new FakeApi([scheduled, cron, ...runs]);
    await handle(contextOf(api), eventOf(scheduled));
    expect(api.read(artifactWorkflows, key)?.status).toMatchObject({
      phase: 'Active',
      succeeded: 4,
      message: `run ${name}-1 failed: no`,
    });
  });

  it('finds the runs of a schedule that was made by hand with a name that no label can hold', async () => {
    const long = `${'made-by-hand.'.repeat(6)}nightly`;
    const argoName = cronWorkflowName(long);
    const scheduled = artifactWorkflow(long, {
      spec: { ...submitted.spec, cron: { schedules: ['0 3 * * *'] } },
      status: { workflowRef: { kind: 'CronWorkflow', name: argoName, attempt: 1 } },
    });
    const cron: CronWorkflow = {
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'CronWorkflow',
      metadata: { ...workflowOf(scheduled, argoName).metadata, uid: 'uid-cron' },
      spec: { workflowSpec: {} },
      status: { succeeded: 4, active: [] },
    };
    const run = workflowOf(scheduled, `${argoName}-1`, { phase: 'Failed', message: 'no' });
    const metadata = {
      ...run.metadata,
      labels: { 'workflows.argoproj.io/cron-workflow': argoName },
      ownerReferences: [{ apiVersion: cron.apiVersion, kind: cron.kind, name: argoName, uid: 'uid-cron' }],
    };
    const api = new FakeApi([scheduled, cron, { ...run, metadata }]);
    await handle(contextOf(api), eventOf(scheduled));
    expect(api.read(artifactWorkflows, { namespace, name: long })?.status).toMatchObject({
      phase: 'Active',
      message: `run ${argoName}-1 failed: no`,
    });
  });
});
