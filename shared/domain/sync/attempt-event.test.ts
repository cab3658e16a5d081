import { describe, expect, it } from 'vitest';
import type { ArtifactWorkflow, ArtifactWorkflowStatus } from '../kinds/artifact-workflow.ts';
import { image, made, order } from '../testing/plan-objects.ts';
import { attemptEvent } from './attempt-event.ts';

const one = order([image('a')]);
const nightly = order([{ ...image('a'), cron: { schedules: ['@daily'] } }]);
const ref = { kind: 'Workflow' as const, name: 'w', attempt: 1 };

function at(status: ArtifactWorkflowStatus): ArtifactWorkflow {
  return made(one, { workflowRef: ref, syncedAttempt: 1, attempts: 1, ...status });
}

const running = at({ phase: 'Running' });
const told = (before: ArtifactWorkflow, after: ArtifactWorkflow) => {
  const event = attemptEvent(before, after);
  return event && `${event.type} ${event.reason}: ${event.message}`;
};

describe('attemptEvent', () => {
  it.each<[ArtifactWorkflowStatus, string | undefined]>([
    [{ phase: 'Pending' }, undefined],
    [{ phase: 'Queued', message: 'in queue "slow"' }, 'Normal Queued: in queue "slow"'],
    [{ phase: 'Running' }, undefined],
    [{ phase: 'Failed', message: 'no\nlog\nlast' }, 'Warning Failed: no … last'],
    [{ phase: 'Error' }, 'Warning Failed: the transfer failed without a message'],
    [{ phase: 'Stopped' }, 'Warning Stopped: the transfer was stopped from outside'],
    [{ phase: 'Cancelled', message: 'cancelled' }, 'Normal Cancelled: cancelled'],
    [{ phase: 'Succeeded' }, 'Normal Succeeded: it has arrived'],
    [
      {
        phase: 'Succeeded',
        results: { digest: 'sha256:aa', bytes: { copied: 2048, existed: 1024, mounted: 0 } },
      },
      'Normal Succeeded: sha256:aa has arrived (2 KiB copied, 1 KiB there already)',
    ],
    [
      { phase: 'Succeeded', results: { digest: 'sha256:aa', repaired: { blobs: 2, manifests: 1 } } },
      'Normal Succeeded: sha256:aa has arrived; repaired 2 blobs and 1 manifest that the destination had lost',
    ],
  ])('of %j is %s', (status, expected) => {
    expect(told(at({ phase: 'Pending' }), at(status))).toBe(expected);
  });

  it('is one for each step: none for progress, one for the next attempt', () => {
    expect(told(running, at({ phase: 'Running', progress: '1/2' }))).toBeUndefined();
    const workflowRef = { ...ref, name: 'w-2', attempt: 2 };
    const second = at({ phase: 'Running', attempts: 2, syncedAttempt: 2, workflowRef });
    expect(told(running, second)).toBe('Normal Started: attempt 2 runs as Workflow "w-2"');
  });

  it('is none of what is being deleted', () => {
    const failed = at({ phase: 'Failed' });
    const metadata = { ...failed.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' };
    expect(told(running, { ...failed, metadata })).toBeUndefined();
  });

  it('of a schedule is the last run, worded alike where nothing differs', () => {
    const active = (status: ArtifactWorkflowStatus) =>
      made(nightly, {
        workflowRef: { ...ref, kind: 'CronWorkflow' },
        syncedAttempt: 1,
        phase: 'Active',
        ...status,
      });
    const idle = active({});
    expect(told(idle, active({ activeWorkflowRef: { name: 'r1' } }))).toBe(
      'Normal Started: a run of its schedule started',
    );
    expect(told(idle, active({ succeeded: 1 }))).toBe(
      'Normal Succeeded: a run of its schedule: it has arrived',
    );
    const failed = active({ failed: 1, message: 'run r1 failed: no' });
    expect(told(idle, failed)).toBe('Warning Failed: run r1 failed: no');
    expect(
      told(failed, active({ failed: 1, message: 'run r1 failed: no', progress: '1/2' })),
    ).toBeUndefined();
    expect(told(failed, active({ phase: 'Cancelled' }))).toBe('Normal Cancelled: cancelled');
  });
});
