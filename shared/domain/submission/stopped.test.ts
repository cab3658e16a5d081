import { describe, expect, it } from 'vitest';
import type { Workflow } from '../kinds/argo.ts';
import type { ArtifactWorkflow, ArtifactWorkflowStatus } from '../kinds/artifact-workflow.ts';
import { planOrder } from '../plan/plan.ts';
import { broken, done, image, inputs, now, order, stored } from '../testing/plan-objects.ts';
import { recentlyStoppedRuns, stopGraceMs, stoppedRuns } from './stopped.ts';
import { workflowFor } from './workflow.ts';

const workflowRef = { kind: 'Workflow' as const, name: 'run', attempt: 1 };

function made(status: ArtifactWorkflowStatus): ArtifactWorkflow {
  const [planned] = planOrder(order([image('a')]), inputs()).artifacts;
  if (planned?.state !== 'ready') throw new Error('not ready');
  return stored(planned.workflow, { syncedAttempt: 1, ...status });
}

describe('stoppedRuns', () => {
  const over = (spec: Workflow['spec']) => ({ ...(workflowFor(made({}), 1) as Workflow), spec });

  it('asks for no pods after an end that was no stop', () => {
    expect(stoppedRuns(made({ workflowRef, ...done }), over({}))).toEqual([]);
    expect(stoppedRuns(made({ workflowRef, ...done }), undefined)).toEqual([]);
    expect(stoppedRuns(made({ workflowRef, ...broken }), undefined)).toEqual([]);
    expect(stoppedRuns(made({}), undefined)).toEqual([]);
  });

  it('asks for those of a Workflow that was shut down, or is gone without having ended', () => {
    expect(stoppedRuns(made({ workflowRef, phase: 'Running' }), over({ shutdown: 'Terminate' }))).toEqual([
      'run',
    ]);
    expect(stoppedRuns(made({ workflowRef, phase: 'Running' }), undefined)).toEqual(['run']);
    expect(stoppedRuns(made({ workflowRef, phase: 'Stopped' }), undefined)).toEqual(['run']);
    const scheduled = made({ workflowRef, phase: 'Active', activeWorkflowRef: { name: 'run-7' } });
    expect(stoppedRuns(scheduled, undefined)).toEqual(['run', 'run-7']);
  });
});

describe('recentlyStoppedRuns', () => {
  const ended = (phase: 'Stopped' | 'Cancelled' | 'Succeeded', agoMs: number) =>
    made({
      workflowRef,
      phase,
      // Argo's clock may be minutes off: it is not asked.
      completionTime: '2020-01-01T00:00:00Z',
      conditions: [
        {
          type: 'Reconciling',
          status: 'False',
          reason: phase,
          message: '',
          lastTransitionTime: new Date(now.getTime() - agoMs).toISOString(),
        },
      ],
    });

  it('are those of what was stopped or cancelled, for as long as a stop may take', () => {
    expect(recentlyStoppedRuns([ended('Stopped', 1000)], now)).toEqual(['run']);
    expect(recentlyStoppedRuns([ended('Cancelled', 1000)], now)).toEqual(['run']);
    expect(recentlyStoppedRuns([ended('Succeeded', 1000), made({ phase: 'Running' })], now)).toEqual([]);
    expect(recentlyStoppedRuns([ended('Stopped', 2 * stopGraceMs)], now)).toEqual([]);
  });
});
