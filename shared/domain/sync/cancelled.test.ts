import { describe, expect, it } from 'vitest';
import type { CronWorkflow, Workflow, WorkflowStatus } from '../kinds/argo.ts';
import type { ArtifactWorkflow, ArtifactWorkflowStatus } from '../kinds/artifact-workflow.ts';
import { annotations } from '../kinds/well-known.ts';
import { currentWorkflow, isFinished, owesAttempt } from '../lifecycle/attempts.ts';
import { phaseOf } from '../lifecycle/phases.ts';
import { workflowFor } from '../submission/workflow.ts';
import { broken, done, image, made, now, order } from '../testing/plan-objects.ts';
import { syncedStatus } from './status.ts';

const one = order([image('a')]);
const first = { kind: 'Workflow' as const, name: made(one).metadata.name, attempt: 1 };
const running: ArtifactWorkflowStatus = {
  phase: 'Running',
  workflowRef: first,
  attempts: 1,
  syncedAttempt: 1,
};
const finishedAt = '2026-01-02T03:01:00Z';

function cancelled(status: ArtifactWorkflowStatus = {}, more: Partial<ArtifactWorkflow['spec']> = {}) {
  return made(one, status, { cancel: true, ...more });
}

function argo(workflow: ArtifactWorkflow, status: WorkflowStatus, spec = {}): Workflow {
  const object = workflowFor(workflow, currentWorkflow(workflow).attempt) as Workflow;
  return { ...object, spec: { ...object.spec, ...spec }, status };
}

function apply(workflow: ArtifactWorkflow, patch: object | undefined): ArtifactWorkflow {
  const entries = Object.entries({ ...workflow.status, ...patch }).filter(([, value]) => value !== null);
  return { ...workflow, status: Object.fromEntries(entries) };
}

function sync(workflow: ArtifactWorkflow, found?: Workflow | CronWorkflow): ArtifactWorkflow {
  const next = apply(workflow, syncedStatus(workflow, found, now));
  // Looking again changes nothing.
  expect(syncedStatus(next, found, new Date(now.getTime() + 60_000))).toBeUndefined();
  return next;
}

describe('an ArtifactWorkflow that is cancelled', () => {
  it('has ended at once where it has no Workflow', () => {
    const end = sync(cancelled());
    expect(end.status).toMatchObject({ phase: 'Cancelled', message: 'cancelled', syncedAttempt: 0 });
    expect(isFinished(end)).toBe(true);
    const conditions = Object.fromEntries(
      (end.status?.conditions ?? []).map(({ type, status, reason }) => [type, `${status} ${reason}`]),
    );
    expect(conditions).toEqual({
      Ready: 'False Cancelled',
      Reconciling: 'False Cancelled',
      Stalled: 'False Cancelled',
    });
  });

  it('goes on to be Running until its Workflow has ended', () => {
    const workflow = cancelled(running);
    const stopping = argo(workflow, { phase: 'Running', progress: '1/2' }, { shutdown: 'Terminate' });
    expect(phaseOf(sync(workflow, stopping))).toBe('Running');
    const stopped = argo(workflow, { phase: 'Failed', finishedAt }, { shutdown: 'Terminate' });
    expect(sync(workflow, stopped).status).toMatchObject({ phase: 'Cancelled', completionTime: finishedAt });
    expect(phaseOf(sync(workflow))).toBe('Cancelled');
  });

  it('has succeeded where the transfer was done before the stop', () => {
    const workflow = cancelled(running);
    expect(phaseOf(sync(workflow, argo(workflow, { phase: 'Succeeded' })))).toBe('Succeeded');
    const outputs = { parameters: [{ name: 'result', value: '{"outcome":"succeeded"}' }] };
    const late = argo(workflow, { phase: 'Succeeded', outputs }, { shutdown: 'Terminate' });
    expect(phaseOf(sync(workflow, late))).toBe('Succeeded');
    expect(phaseOf(sync(sync(workflow), late))).toBe('Succeeded');
    const none = argo(workflow, { phase: 'Succeeded' }, { shutdown: 'Terminate' });
    expect(phaseOf(sync(workflow, none))).toBe('Cancelled');
  });

  it.each(['Succeeded', 'Failed', 'Error', 'Stopped'] as const)('stays %s where it had finished', (phase) => {
    const workflow = cancelled({ ...done, phase, workflowRef: first, observedGeneration: 1 });
    expect(syncedStatus(workflow, undefined, now)).toBeUndefined();
    expect(isFinished(workflow)).toBe(true);
  });

  it('ends instead of being tried again', () => {
    const failed = { ...running, ...broken };
    const retried = { retry: { limit: 2 } };
    const waiting = sync(cancelled(failed, retried));
    const message = 'cancelled after attempt 1 had failed: the registry refused the push';
    expect(waiting.status).toMatchObject({
      phase: 'Cancelled',
      message,
      completionTime: broken.completionTime,
    });
    const workflow = cancelled(running, retried);
    const failing = sync(workflow, argo(workflow, { phase: 'Failed', message: 'no', finishedAt }));
    expect(failing.status).toMatchObject({ phase: 'Cancelled', completionTime: finishedAt });
    expect(phaseOf(sync(cancelled(running), argo(workflow, { phase: 'Failed' })))).toBe('Failed');
  });

  it('owes an attempt once it is taken back, and not before', () => {
    const end = sync(cancelled(running));
    expect(owesAttempt(end)).toBe(false);
    const back = { ...end, spec: { ...end.spec, cancel: false } };
    expect([isFinished(back), owesAttempt(back)]).toEqual([false, true]);
    // Decided on, not yet seen: what is left of the attempt before does not count.
    const next = { ...first, name: 'next', attempt: 2 };
    const again = { ...back, status: { ...back.status, workflowRef: next, attempts: 2 } };
    expect(phaseOf(again)).toBe('Pending');
    expect(sync({ ...again, spec: end.spec }).status).toMatchObject({ phase: 'Cancelled', syncedAttempt: 2 });
  });

  it('is Cancelled, not Stopped, where its cancel was taken back before the Workflow had ended', () => {
    const workflow = made(one, running);
    const found = argo(workflow, { phase: 'Failed' }, { shutdown: 'Terminate' });
    expect(phaseOf(sync(workflow, found))).toBe('Stopped');
    const note = { [annotations.cancelledAt]: '2026-01-02T03:00:00Z' };
    const noted = { ...found, metadata: { ...found.metadata, annotations: note } };
    expect(phaseOf(sync(workflow, noted))).toBe('Cancelled');
  });

  it('on a schedule has ended when its CronWorkflow is gone', () => {
    const daily = order([{ ...image('a'), cron: { schedules: ['@daily'] } }]);
    const plain = made(daily, {}, { cancel: true });
    const active = made(
      daily,
      { phase: 'Active', activeWorkflowRef: { name: 'run' }, workflowRef: currentWorkflow(plain) },
      { cancel: true },
    );
    const schedule = { ...workflowFor(active, 1), status: { active: [{ name: 'run' }] } } as CronWorkflow;
    expect(phaseOf(sync(active, schedule))).toBe('Active');
    expect(phaseOf(sync(active))).toBe('Cancelled');
  });

  it('is left alone while it is being deleted', () => {
    const workflow = cancelled(running);
    workflow.metadata.deletionTimestamp = now.toISOString();
    expect(syncedStatus(workflow, undefined, now)).toBeUndefined();
  });
});
