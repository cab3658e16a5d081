import { describe, expect, it } from 'vitest';
import type { Workflow } from '../kinds/argo.ts';
import type { ArtifactWorkflow, ArtifactWorkflowStatus } from '../kinds/artifact-workflow.ts';
import { labels } from '../kinds/well-known.ts';
import { planOrder } from '../plan/plan.ts';
import { broken, done, image, inputs, now, order, stored } from '../testing/plan-objects.ts';
import {
  isPodOfRuns,
  podSelector,
  recentlyStoppedRuns,
  runsOf,
  stopGraceMs,
  stoppedRuns,
} from './stopped.ts';
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

describe('the runs of a schedule', () => {
  const names = runsOf(made({ workflowRef: { kind: 'CronWorkflow', name: 'nightly', attempt: 1 } }));
  const podOf = (run: string) => ({ metadata: { name: 'pod', labels: { [labels.argoWorkflow]: run } } });

  it('are waited for though the status has not named them yet', () => {
    expect(isPodOfRuns(podOf('nightly-1767225600'), names)).toBe(true);
    expect(podSelector(names)).toBe(labels.argoWorkflow);
  });

  it.each(['nightly-app', 'weekly-1767225600', 'nightly-1767225600-x', ''])('are not those of %j', (run) => {
    expect(isPodOfRuns(podOf(run), names)).toBe(false);
  });

  it('are found by their names where there is no schedule', () => {
    const plain = runsOf(made({ workflowRef }));
    expect(podSelector(plain)).toBe(`${labels.argoWorkflow} in (run)`);
    expect(isPodOfRuns(podOf('run'), plain)).toBe(true);
    expect(isPodOfRuns(podOf('run-2'), plain)).toBe(false);
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
