import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import type { CronWorkflow, Workflow, WorkflowStatus } from '../kinds/argo.ts';
import type { ArtifactWorkflow, ArtifactWorkflowStatus } from '../kinds/artifact-workflow.ts';
import { currentWorkflow } from '../lifecycle/attempts.ts';
import { hasEnded, phaseOf } from '../lifecycle/phases.ts';
import { planOrder } from '../plan/plan.ts';
import { unreleased, workflowFor } from '../submission/workflow.ts';
import { image, inputs, now, order, stored } from '../testing/plan-objects.ts';
import { parseProgress } from './progress.ts';
import { isSynced, syncedStatus } from './status.ts';

function made(status: ArtifactWorkflowStatus = {}, cron = false): ArtifactWorkflow {
  const artifact = cron ? { ...image('a'), cron: { schedules: ['@daily'] } } : image('a');
  const [planned] = planOrder(order([artifact]), inputs()).artifacts;
  if (planned?.state !== 'ready') throw new Error('not ready');
  return stored(planned.workflow, status);
}

function argo(workflow: ArtifactWorkflow, status: WorkflowStatus, spec = {}): Workflow {
  const { attempt } = currentWorkflow(workflow);
  const object = workflowFor(workflow, attempt) as Workflow;
  return { ...object, spec: { ...object.spec, ...spec }, status };
}

function apply(workflow: ArtifactWorkflow, patch: object | undefined): ArtifactWorkflow {
  const entries = Object.entries({ ...workflow.status, ...patch }).filter(([, value]) => value !== null);
  return { ...workflow, status: Object.fromEntries(entries) };
}

function sync(workflow: ArtifactWorkflow, status: WorkflowStatus, spec = {}): ArtifactWorkflow {
  return apply(workflow, syncedStatus(workflow, argo(workflow, status, spec), now));
}

const startedAt = '2026-01-02T03:00:00Z';
const finishedAt = '2026-01-02T03:01:00Z';

describe('syncedStatus', () => {
  it.each<[WorkflowStatus, object, string]>([
    [{}, {}, 'Pending'],
    [{ phase: 'Pending' }, {}, 'Pending'],
    [{ phase: 'Pending', message: 'Workflow processing has been postponed' }, {}, 'Queued'],
    [{ phase: 'Running', startedAt }, {}, 'Running'],
    [{ phase: 'Succeeded', startedAt, finishedAt }, {}, 'Succeeded'],
    [{ phase: 'Failed', startedAt, finishedAt }, {}, 'Failed'],
    [{ phase: 'Error' }, {}, 'Error'],
    [{ phase: 'Failed' }, { shutdown: 'Terminate' }, 'Stopped'],
    [{ phase: 'Succeeded' }, { shutdown: 'Stop' }, 'Stopped'],
  ])('of %j with %j is %s', (status, spec, phase) => {
    expect(sync(made(), status, spec).status?.phase).toBe(phase);
  });

  it('of a Workflow that waits for its release is Pending, though Argo calls it Running', () => {
    const waiting = (status: ArtifactWorkflowStatus) => {
      const workflow = made(status);
      return syncedStatus(workflow, unreleased(argo(workflow, { phase: 'Running', startedAt })), now);
    };
    expect(waiting({})).toBeUndefined();
    expect(waiting({ phase: 'Running', startTime: startedAt })).toMatchObject({ phase: 'Pending' });
    const byHand = argo(made(), { phase: 'Running', startedAt }, { suspend: true });
    expect(syncedStatus(made(), byHand, now)).toMatchObject({ phase: 'Running' });
  });

  it.each([
    ['Pending', 'slow', 'Queued'],
    ['Running', 'slow', 'Running'],
    ['Pending', undefined, 'Running'],
  ])('of a pod that is %s with queue %s is %s', (phase, queueName, expected) => {
    const plain = made();
    const workflow = queueName === undefined ? plain : { ...plain, spec: { ...plain.spec, queueName } };
    const nodes = { a: { type: 'Retry', phase: 'Running' }, b: { type: 'Pod', phase } };
    expect(sync(workflow, { phase: 'Running', startedAt, nodes }).status?.phase).toBe(expected);
    expect(sync(workflow, { phase: 'Running', startedAt }).status?.phase).toBe('Running');
  });

  it('waits again after its pod was preempted, in the same attempt, without the report of that pod', () => {
    const plain = made();
    const queued = { ...plain, spec: { ...plain.spec, queueName: 'slow' } };
    const value = '{"outcome":"failed","reason":"retryable","message":"stopped"}';
    const first = { type: 'Pod', phase: 'Error', outputs: { parameters: [{ name: 'result', value }] } };
    const nodes = { a: first, b: { type: 'Pod', phase: 'Pending' } };
    const place = { queue: 'slow', position: 3, reason: 'no quota' };
    const seen = { phase: 'Running' as const, startedAt, nodes };
    const waits = apply(queued, syncedStatus(queued, argo(queued, seen), now, { place }));
    const message = 'position 3 in LocalQueue "slow": no quota';
    expect(waits.status).toMatchObject({ phase: 'Queued', message });
    expect(waits.status).not.toHaveProperty('results');
    expect(syncedStatus(waits, argo(waits, seen), now)).toBeUndefined();
    const runs = sync(waits, { ...seen, nodes: { a: first, b: { type: 'Pod', phase: 'Running' } } });
    expect(runs.status?.phase).toBe('Running');
    expect(runs.status).not.toHaveProperty('message');
  });

  it('takes times and results over and sets conditions', () => {
    const outputs = {
      parameters: [{ name: 'result', value: '{"outcome":"succeeded","digest":"sha256:aa"}' }],
    };
    const { status } = sync(made(), { phase: 'Succeeded', startedAt, finishedAt, progress: '9/9', outputs });
    expect(status).toMatchObject({
      startTime: startedAt,
      completionTime: finishedAt,
      progress: '9/9',
      results: { digest: 'sha256:aa' },
    });
    expect(status?.conditions).toContainEqual(expect.objectContaining({ type: 'Ready', status: 'True' }));
    expect(status).not.toHaveProperty('message');
  });

  it('writes nothing when it sees the same again, and nothing of another Workflow', () => {
    const workflow = sync(made(), { phase: 'Running', startedAt, progress: '1/2' });
    const same = argo(workflow, { phase: 'Running', startedAt, progress: '1/2' });
    expect(syncedStatus(workflow, same, new Date(now.getTime() + 1e6))).toBeUndefined();
    const other = { ...same, metadata: { ...same.metadata, name: 'other' } };
    expect(syncedStatus(workflow, other, now)).toBeUndefined();
    expect(syncedStatus(workflow, undefined, now)).toBeUndefined();
  });

  it('never shows less progress, and never leaves an end, whatever Argo says', () => {
    const seen = fc.record({
      phase: fc.constantFrom('', 'Pending', 'Running', 'Succeeded', 'Failed', 'Error') as fc.Arbitrary<
        '' | 'Running'
      >,
      progress: fc.tuple(fc.nat({ max: 100 }), fc.nat({ max: 100 })).map(([n, m]) => `${n}/${m}`),
    });
    fc.assert(
      fc.property(fc.array(seen, { maxLength: 15 }), (readings) => {
        let workflow = made();
        for (const reading of readings) {
          const next = sync(workflow, reading);
          if (hasEnded(workflow)) expect(hasEnded(next)).toBe(true);
          const before = parseProgress(workflow.status?.progress);
          const after = parseProgress(next.status?.progress);
          if (before)
            expect((after?.done ?? 0) / (after?.total ?? 1)).toBeGreaterThanOrEqual(
              before.done / before.total,
            );
          expect(syncedStatus(next, argo(next, reading), now)).toBeUndefined();
          workflow = next;
        }
      }),
    );
  });

  it('starts anew with the next attempt', () => {
    const failed = sync(made(), { phase: 'Failed', startedAt, finishedAt, progress: '5/9', message: 'no' });
    const workflowRef = { kind: 'Workflow' as const, name: `${failed.metadata.name}-2`, attempt: 2 };
    const second = { ...failed, status: { ...failed.status, workflowRef, attempts: 2 } };
    expect(phaseOf(second)).toBe('Pending');
    const running = sync(second, { phase: 'Running', startedAt: finishedAt, progress: '1/9' });
    expect(running.status).toMatchObject({
      phase: 'Running',
      startTime: finishedAt,
      progress: '1/9',
      syncedAttempt: 2,
    });
    expect(running.status).not.toHaveProperty('completionTime');
    expect(running.status).not.toHaveProperty('message');
    const late = argo(failed, { phase: 'Failed', startedAt, finishedAt });
    expect(syncedStatus(running, late, now)).toBeUndefined();
  });

  it('says why it failed, once', () => {
    const workflow = made();
    const nodes = {
      b: {
        name: 'b',
        type: 'Pod',
        phase: 'Failed',
        displayName: 'main',
        message: 'Error (exit code 12): no access',
        finishedAt,
      },
      a: { name: 'a', type: 'Steps', phase: 'Failed', message: 'child failed' },
    };
    const outputs = {
      parameters: [{ name: 'result', value: '{"outcome":"failed","reason":"denied","message":"no access"}' }],
    };
    const object = argo(workflow, {
      phase: 'Failed',
      message: 'Error (exit code 12): no access',
      nodes,
      outputs,
    });
    const patch = syncedStatus(workflow, object, now);
    expect(patch?.message).toBe('no access');
    const after = apply(workflow, patch);
    expect(after.status?.results?.reason).toBe('denied');
    expect(syncedStatus(after, object, now)).toBeUndefined();
  });

  it('ends a run after the retry-at that it answers, though clocks differ', () => {
    const rerunAt = Date.parse(finishedAt) / 1000 + 60;
    const workflow = made();
    const asked = {
      ...workflow,
      status: { ...workflow.status, workflowRef: { ...currentWorkflow(workflow), rerunAt } },
    };
    const object = argo(asked, { phase: 'Failed', startedAt, finishedAt });
    const after = apply(asked, syncedStatus(asked, object, now));
    expect(Date.parse(after.status?.completionTime ?? '')).toBe((rerunAt + 1) * 1000);
    expect(syncedStatus(after, object, now)).toBeUndefined();
  });

  it('follows a schedule through its runs', () => {
    const workflow = made({}, true);
    const object = workflowFor(workflow, 1) as CronWorkflow;
    const active = [{ name: 'run-1' }];
    const run = argo({ ...workflow, spec: { ...workflow.spec } }, { phase: 'Running', progress: '4/8' });
    const during = apply(
      workflow,
      syncedStatus(workflow, { ...object, status: { active, lastScheduledTime: startedAt } }, now, { run }),
    );
    expect(during.status).toMatchObject({
      phase: 'Active',
      activeWorkflowRef: { name: 'run-1' },
      lastScheduled: startedAt,
      progress: '4/8',
    });
    const idle = { ...object, status: { active: null, lastScheduledTime: startedAt, succeeded: 1 } };
    const after = apply(during, syncedStatus(during, idle, now));
    expect(after.status).toMatchObject({ phase: 'Active', succeeded: 1 });
    expect(after.status).not.toHaveProperty('activeWorkflowRef');
    expect(after.status).not.toHaveProperty('progress');
  });

  it('says why Argo can start no run of a schedule, until it can', () => {
    const workflow = made({}, true);
    const object = workflowFor(workflow, 1) as CronWorkflow;
    const condition = { type: 'SubmissionError', status: 'True' as const, message: 'template "t" not found' };
    const refused = { ...object, status: { conditions: [condition] } };
    const after = apply(workflow, syncedStatus(workflow, refused, now));
    const message = 'Argo cannot start its runs: template "t" not found';
    expect(after.status).toMatchObject({ phase: 'Active', message });
    expect(syncedStatus(after, refused, now)).toBeUndefined();
    const well = { ...object, status: { conditions: [], lastScheduledTime: startedAt } };
    expect(apply(after, syncedStatus(after, well, now)).status).not.toHaveProperty('message');
  });

  it('is about the present generation once it has ended, though its Workflow is gone', () => {
    const ended = sync(made(), { phase: 'Succeeded', startedAt, finishedAt });
    const edited = { ...ended, metadata: { ...ended.metadata, generation: 7 } };
    const after = apply(edited, syncedStatus(edited, undefined, now));
    expect(after.status).toMatchObject({ phase: 'Succeeded', observedGeneration: 7 });
    expect(after.status?.conditions?.map((one) => one.observedGeneration)).toEqual([7, 7, 7]);
    expect(syncedStatus(after, undefined, now)).toBeUndefined();
  });

  it('stays the same when an ended ArtifactWorkflow is deleted before its Workflow', () => {
    const workflow = made();
    const object = argo(workflow, { phase: 'Succeeded', startedAt, finishedAt });
    const ended = apply(workflow, syncedStatus(workflow, object, now));
    const edited = { ...ended, metadata: { ...ended.metadata, generation: 7 } };
    const deleting = { ...edited, metadata: { ...edited.metadata, deletionTimestamp: finishedAt } };
    expect(syncedStatus(deleting, object, now)).toBeUndefined();
    expect([edited, deleting].map((one) => isSynced(one, object, now))).toEqual([false, true]);
  });
});
