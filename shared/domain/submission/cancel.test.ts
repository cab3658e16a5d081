import { describe, expect, it } from 'vitest';
import type { CronWorkflow, Workflow } from '../kinds/argo.ts';
import type { ArtifactWorkflow, ArtifactWorkflowStatus } from '../kinds/artifact-workflow.ts';
import { annotations } from '../kinds/well-known.ts';
import { currentWorkflow } from '../lifecycle/attempts.ts';
import { broken, image, made, now, order } from '../testing/plan-objects.ts';
import { artifactWorkflowExpiry } from '../ttl/ttl.ts';
import { stopGraceMs } from './stopped.ts';
import { decideSubmission, needsRunning, type Submission } from './submission.ts';
import { workflowFor } from './workflow.ts';

const one = order([image('a')]);
const rendered = { configSecret: { name: 'config' } };
const first = currentWorkflow(made(one));
const submitted: ArtifactWorkflowStatus = { ...rendered, workflowRef: first, attempts: 1, phase: 'Running' };
const end: ArtifactWorkflowStatus = { phase: 'Cancelled', completionTime: '2026-01-02T03:00:00Z' };

function cancelled(status: ArtifactWorkflowStatus, spec: Partial<ArtifactWorkflow['spec']> = {}) {
  return made(one, status, { cancel: true, ...spec });
}

function decide(workflow: ArtifactWorkflow, running?: Workflow | CronWorkflow): Submission {
  return decideSubmission({ workflow, running, conflicting: [], now });
}

function running(workflow: ArtifactWorkflow, askedMsAgo?: number): Workflow {
  const object = workflowFor(workflow, 1) as Workflow;
  if (askedMsAgo === undefined) return { ...object, status: { phase: 'Running' } };
  const asked = new Date(now.getTime() - askedMsAgo).toISOString();
  return {
    ...object,
    metadata: { ...object.metadata, annotations: { [annotations.cancelledAt]: asked } },
    spec: { ...object.spec, shutdown: 'Terminate' },
    status: { phase: 'Running' },
  };
}

describe('submission of one that is cancelled', () => {
  it.each<[string, ArtifactWorkflowStatus, object]>([
    ['the first attempt', rendered, {}],
    ['a Workflow that is gone', submitted, {}],
    ['a retry', { ...submitted, ...broken }, { retry: { limit: 5 } }],
    ['what had been cancelled', { ...submitted, ...end }, {}],
    ['one that is suspended too', rendered, { suspend: true }],
  ])('never starts %s', (_, status, spec) => {
    expect(decide(cancelled(status, spec))).toEqual({ action: 'none' });
  });

  it('stops its Workflow, waits, and deletes it after the grace period', () => {
    const workflow = cancelled(submitted);
    expect(needsRunning(workflow)).toBe(true);
    expect(decide(workflow, running(workflow))).toMatchObject({ action: 'stop', how: 'cancel' });
    expect(decide(workflow, running(workflow, 1))).toMatchObject({ action: 'wait' });
    expect(decide(workflow, running(workflow, stopGraceMs))).toMatchObject({ action: 'stop', how: 'delete' });
    const over = { ...running(workflow, 1), status: { phase: 'Failed' as const } };
    expect(decide(workflow, over)).toEqual({ action: 'end', after: [over.metadata.name] });
  });

  it('stops a Workflow that appears after it has ended, and none of another owner', () => {
    const workflow = cancelled({ ...submitted, ...end });
    const late = running(workflow);
    expect(decide(workflow, late)).toMatchObject({ action: 'stop', how: 'cancel' });
    const { ownerReferences: _owners, ...metadata } = late.metadata;
    expect(decide(workflow, { ...late, metadata })).toEqual({ action: 'none' });
  });

  it('deletes the CronWorkflow of a schedule', () => {
    const workflow = made(order([{ ...image('a'), cron: { schedules: ['@daily'] } }]), submitted, {
      cancel: true,
    });
    const schedule = workflowFor(workflow, 1) as CronWorkflow;
    expect(decide(workflow, schedule)).toMatchObject({ action: 'stop', how: 'delete' });
  });

  it('starts the next attempt at once when it is taken back, or the first', () => {
    const back = (status: ArtifactWorkflowStatus) => decide(made(one, { ...rendered, ...status }));
    expect(back({ ...submitted, ...end, syncedAttempt: 1 })).toMatchObject({
      action: 'create',
      status: { attempts: 2, workflowRef: { attempt: 2 } },
    });
    expect(back({ ...end, syncedAttempt: 0 })).toMatchObject({
      action: 'create',
      status: { attempts: 1, workflowRef: { attempt: 1 } },
    });
  });

  it('never expires: it may be taken back', () => {
    const ttl = { ttlAfterFailed: '0s', ttlAfterFinished: '0s' };
    expect(artifactWorkflowExpiry(cancelled(end, ttl), undefined)).toBeUndefined();
  });
});
