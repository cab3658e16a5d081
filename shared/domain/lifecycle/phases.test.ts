import { describe, expect, it } from 'vitest';
import type { ArtifactWorkflow, ArtifactWorkflowStatus } from '../kinds/artifact-workflow.ts';
import { apiVersion } from '../kinds/refs.ts';
import { broken, done, now } from '../testing/plan-objects.ts';
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

describe('an attempt that failed, where nothing sets a limit of retries', () => {
  const failedWith = (reason: string | undefined, attempts: number, retry?: object) => {
    const workflow = made({ ...broken, attempts, ...(reason && { results: { reason } }) }, retry);
    if (retry === undefined) delete workflow.spec.retry;
    return workflow;
  };

  it('is followed by two more after 10 and 20 seconds when the worker calls it retryable', () => {
    expect([1, 2, 3].map((attempts) => owesAttempt(failedWith('retryable', attempts)))).toEqual([
      true,
      true,
      false,
    ]);
    const due = (attempts: number) => nextAttemptMs(failedWith('retryable', attempts), now) - now.getTime();
    expect([1, 2].map(due)).toEqual([10_000, 20_000]);
    expect(owesAttempt(failedWith('retryable', 2, { backoff: '1m' }))).toBe(true);
  });

  it.each(['permanent', 'denied', 'auth', 'config', 'denied-by-policy', undefined])(
    'is final with the reason %s',
    (reason) => {
      expect(isFinished(failedWith(reason, 1))).toBe(true);
      expect(isFinished(failedWith(reason, 1, { backoff: '1m' }))).toBe(true);
    },
  );

  it('is followed by as many as a limit says, none included', () => {
    expect(isFinished(failedWith('retryable', 1, { limit: 0 }))).toBe(true);
    expect(isFinished(failedWith('retryable', 2, { limit: 1 }))).toBe(true);
    expect(owesAttempt(failedWith('retryable', 5, { limit: 5 }))).toBe(true);
  });
});

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
    const wait = (attempts: number, backoff?: string) => {
      const failed = made({ ...broken, attempts }, backoff === undefined ? {} : { backoff });
      return (nextAttemptMs(failed, now) - now.getTime()) / 1000;
    };
    expect([1, 2, 3, 4].map((attempt) => wait(attempt, '30s'))).toEqual([30, 60, 120, 240]);
    expect(wait(1)).toBe(10);
    expect(wait(50, '30s')).toBe(3600);
  });

  it.each(['2020-01-01T00:00:00Z', '2040-01-01T00:00:00Z'])(
    'start the next attempt when it was said, though Argo dates the end %s',
    (completionTime) => {
      const failed = { ...broken, completionTime };
      const due = (more: object, backoff = '30s') =>
        new Date(nextAttemptMs(made({ ...failed, ...more }, { backoff }), now)).toISOString();
      expect(due({})).toBe('2026-01-02T03:04:35.000Z');
      expect(due({ nextAttemptTime: '2026-01-02T03:04:15Z' })).toBe('2026-01-02T03:04:15.000Z');
      // Another clock than ours, or a backoff that has been made shorter since.
      expect(due({ nextAttemptTime: '2026-01-02T04:00:00Z' }, '5s')).toBe('2026-01-02T03:04:10.000Z');
    },
  );
});
