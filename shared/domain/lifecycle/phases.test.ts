import { describe, expect, it } from 'vitest';
import type { ArtifactWorkflow, ArtifactWorkflowStatus } from '../kinds/artifact-workflow.ts';
import { apiVersion } from '../kinds/refs.ts';
import { broken, done } from '../testing/plan-objects.ts';
import { isFinished, nextAttemptMs, owesAttempt } from './attempts.ts';
import { phaseOf } from './phases.ts';

function made(status: ArtifactWorkflowStatus, retry = {}): ArtifactWorkflow {
  return {
    apiVersion,
    kind: 'ArtifactWorkflow',
    metadata: { name: 'a' },
    spec: { workflowTemplateRef: { name: 't' }, retry },
    status,
  };
}

describe('phases', () => {
  it.each<[ArtifactWorkflowStatus, object, boolean, boolean]>([
    [{}, {}, false, false],
    [{ phase: 'Running' }, {}, false, false],
    [{ phase: 'Active' }, {}, false, false],
    [done, { limit: 3 }, true, false],
    [{ phase: 'Stopped' }, { limit: 3 }, true, false],
    [broken, {}, true, false],
    [broken, { limit: 1 }, false, true],
    [{ ...broken, attempts: 2 }, { limit: 1 }, true, false],
    [{ ...broken, results: { reason: 'auth' } }, { limit: 1 }, true, false],
    [{ ...broken, results: { reason: 'retryable' } }, { limit: 1 }, false, true],
  ])('of %j with retry %j: finished %s, owes an attempt %s', (status, retry, finished, owes) => {
    expect(isFinished(made(status, retry))).toBe(finished);
    expect(owesAttempt(made(status, retry))).toBe(owes);
  });

  it('are Pending from the decision about another attempt until that is seen', () => {
    const workflowRef = { kind: 'Workflow' as const, name: 'a-2', attempt: 2 };
    expect(phaseOf(made({ ...broken, workflowRef }))).toBe('Pending');
    expect(phaseOf(made({ ...broken, workflowRef, syncedAttempt: 2 }))).toBe('Failed');
  });

  it('space attempts twice as far each time, up to an hour', () => {
    const ended = Date.parse(broken.completionTime ?? '');
    const wait = (attempts: number, backoff?: string) =>
      (nextAttemptMs(made({ ...broken, attempts }, backoff === undefined ? {} : { backoff })) - ended) / 1000;
    expect([1, 2, 3, 4].map((attempt) => wait(attempt, '30s'))).toEqual([30, 60, 120, 240]);
    expect(wait(1)).toBe(10);
    expect(wait(50, '30s')).toBe(3600);
  });
});
