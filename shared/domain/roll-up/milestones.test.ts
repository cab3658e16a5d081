import { describe, expect, it } from 'vitest';
import { isoSeconds } from '#shared/meta';
import { fc } from '#shared/testing';
import type { ArtifactWorkflow, ArtifactWorkflowStatus, WorkflowPhase } from '../kinds/artifact-workflow.ts';
import type { Order, OrderStatus } from '../kinds/order.ts';
import { planOrder } from '../plan/plan.ts';
import { broken, done, image, inputs, made, now, order, stored } from '../testing/plan-objects.ts';
import { artifactMilestone, orderMilestone } from './milestones.ts';
import { rollUp } from './rollup.ts';

const at = (seconds: number) => new Date(now.getTime() + seconds * 1000);

/** The Order with the status that follows when its artifacts have these. */
function rolled(of: Order, statuses: ReadonlyArray<ArtifactWorkflowStatus>, when = now): Order {
  const plan = planOrder(of, inputs());
  const children = plan.artifacts.flatMap((one, index) =>
    one.state === 'ready' ? [stored(one.workflow, statuses[index])] : [],
  );
  return { ...of, status: rollUp(of, plan, children, when) };
}

function announced(before: Order, after: Order, when = now) {
  const milestone = orderMilestone(before, after.status ?? {}, when);
  return milestone && `${milestone.name} ${milestone.occurrence} ${isoSeconds(milestone.time.getTime())}`;
}

function edited(of: Order, generation: number): Order {
  return { ...of, metadata: { ...of.metadata, generation } };
}

describe('the milestones of an Order', () => {
  const one = order([image('a')]);
  const running: ArtifactWorkflowStatus = { phase: 'Running' };

  it('are that it is accepted, and its end', () => {
    const first = rolled(one, [{}]);
    expect(announced(one, first)).toBe('accepted 1 2026-01-02T03:04:05Z');
    const second = rolled(first, [running]);
    expect(announced(first, second)).toBeUndefined();
    const ended = rolled(second, [done], at(60));
    expect(announced(second, ended, at(60))).toBe('completed 1/2026-01-02T03:05:05Z 2026-01-02T03:05:05Z');
    expect(announced(ended, rolled(ended, [done], at(90)), at(90))).toBeUndefined();
  });

  it('are only the end of one that has nothing to run', () => {
    const nowhere = order([image('a')], { defaults: {} });
    expect(announced(nowhere, rolled(nowhere, []))).toBe(
      'failed 1/2026-01-02T03:04:05Z 2026-01-02T03:04:05Z',
    );
  });

  it('are no failure while what is absent is waited for', () => {
    const absent = order([{ ...image('a'), type: 'tape' }]);
    const waiting = rolled(absent, []);
    expect(announced(absent, waiting)).toMatch(/^accepted 1/);
    expect(announced(waiting, rolled(waiting, [], at(9)), at(9))).toBeUndefined();
    expect(announced(waiting, rolled(waiting, [], at(11)), at(11))).toMatch(/^failed 1/);
  });

  describe('beside a schedule, which never ends,', () => {
    const mixed = order([image('a'), image('b'), { ...image('c'), cron: { schedules: ['@hourly'] } }]);
    const resting: ArtifactWorkflowStatus = { phase: 'Active' };
    const busy: ArtifactWorkflowStatus = { ...resting, activeWorkflowRef: { name: 'c-1' } };
    const late = (seconds: number) => ({ completionTime: isoSeconds(at(seconds).getTime()) });

    it('are a failure once the others have ended, and no other one with each of its runs', () => {
      const under = rolled(mixed, [{ ...broken }, running, resting]);
      expect(announced(mixed, under)).toMatch(/^accepted 1/);
      const over = rolled(under, [broken, { ...done, ...late(60) }, resting], at(61));
      expect(announced(under, over, at(61))).toBe('failed 1/2026-01-02T03:05:05Z 2026-01-02T03:05:05Z');
      const again = rolled(over, [broken, { ...done, ...late(60) }, busy], at(90));
      expect(again.status?.phase).toBe('Running');
      expect(announced(over, again, at(90))).toBeUndefined();
      expect(
        announced(again, rolled(again, [broken, { ...done, ...late(60) }, resting], at(99)), at(99)),
      ).toBeUndefined();
    });

    it('are a failure, too, that is seen while it runs, and one more for a retry that fails', () => {
      const under = rolled(mixed, [running, done, busy]);
      const over = rolled(under, [{ ...broken, ...late(30) }, done, busy], at(31));
      expect(announced(under, over, at(31))).toMatch(/^failed 1\/2026-01-02T03:04:35Z/);
      const retried = rolled(over, [running, done, resting], at(40));
      expect(announced(over, retried, at(40))).toBeUndefined();
      const failed = rolled(retried, [{ ...broken, ...late(50) }, done, resting], at(51));
      expect(announced(retried, failed, at(51))).toMatch(/^failed 1\/2026-01-02T03:04:55Z/);
    });

    it('are a failure of one that is invalid', () => {
      const wrong = order([
        { ...image('a'), type: 'tape' },
        { ...image('c'), cron: { schedules: ['@hourly'] } },
      ]);
      const waiting = rolled(wrong, [{}, resting]);
      expect(announced(wrong, waiting)).toMatch(/^accepted 1/);
      expect(announced(waiting, rolled(waiting, [{}, resting], at(11)), at(11))).toMatch(/^failed 1\//);
    });

    it('are none while all is well, or nothing new is started', () => {
      const well = rolled(mixed, [done, running, resting]);
      expect(announced(well, rolled(well, [done, done, resting], at(9)), at(9))).toBeUndefined();
      const asleep = order(mixed.spec.artifacts ?? [], { suspend: true });
      const before = rolled(asleep, [running, done, resting]);
      expect(announced(before, rolled(before, [broken, done, resting], at(9)), at(9))).toBeUndefined();
    });
  });

  it('are accepted, and never completed, without artifacts', () => {
    const empty = order([]);
    expect(announced(empty, rolled(empty, []))).toMatch(/^accepted 1/);
    expect(announced(rolled(empty, []), rolled(rolled(empty, []), [], at(60)), at(60))).toBeUndefined();
  });

  it('are reached in every generation: again accepted, or ended at once', () => {
    const before = rolled(one, [done]);
    const changed = edited(before, 2);
    expect(announced(before, rolled(changed, [running]))).toMatch(/^accepted 2 /);
    expect(announced(before, rolled(changed, [done], at(60)), at(60))).toMatch(
      /^completed 2\/.* 2026-01-02T03:05:05Z$/,
    );
  });

  it('are one end more for each time that it ends, unseen between or not', () => {
    const first = rolled(one, [broken]);
    const retried = { ...broken, completionTime: isoSeconds(at(600).getTime()) };
    expect(announced(first, rolled(first, [retried], at(601)), at(601))).toMatch(
      /^failed 1\/2026-01-02T03:14:05Z/,
    );
    const again = rolled(first, [running], at(500));
    expect(announced(first, again, at(500))).toBeUndefined();
    expect(announced(again, rolled(again, [retried], at(601)), at(601))).toMatch(
      /^failed 1\/2026-01-02T03:14:06Z/,
    );
  });

  it('are none of one that is being deleted', () => {
    for (const status of [done, running]) {
      const before = edited(rolled(one, [status]), 2);
      const deleted = {
        ...before,
        metadata: { ...before.metadata, deletionTimestamp: '2026-01-02T03:00:00Z' },
      };
      expect(announced(deleted, rolled(deleted, [status]))).toBeUndefined();
      expect(announced(before, rolled(before, [status]))).toBeDefined();
    }
  });

  it('have no id twice, whatever becomes of its artifacts', () => {
    const phase = fc.constantFrom<WorkflowPhase>('Pending', 'Running', 'Succeeded', 'Failed', 'Stopped');
    const step = fc.record({ phases: fc.tuple(phase, phase), edit: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        let current = order([image('a'), image('b')]);
        const ids: string[] = [];
        const generations = new Set<number>();
        for (const [index, { phases, edit }] of steps.entries()) {
          const when = at(index);
          // An attempt ends when it is seen to, and stays ended then.
          const kept = Object.values(current.status?.artifactWorkflows ?? {});
          const statuses = phases.map((each, which): ArtifactWorkflowStatus => {
            const { phase: old, completionTime = isoSeconds(when.getTime()) } = kept[which] ?? { phase: '' };
            return ['Pending', 'Running'].includes(each)
              ? { phase: each }
              : { phase: each, completionTime: old === each ? completionTime : isoSeconds(when.getTime()) };
          });
          if (edit) current = edited(current, (current.metadata.generation ?? 1) + 1);
          const next = rolled(current, statuses, when);
          const milestone = orderMilestone(current, next.status ?? {}, when);
          if (milestone) {
            ids.push(`${milestone.occurrence}/${milestone.name}`);
            generations.add(next.metadata.generation ?? 1);
          }
          expect(orderMilestone(next, next.status ?? {}, when)).toBeUndefined();
          expect(generations).toContain(next.metadata.generation);
          current = next;
        }
        expect(new Set(ids).size).toBe(ids.length);
      }),
    );
  });

  it('need no time that is one', () => {
    const status: OrderStatus = { phase: 'Succeeded', observedGeneration: 1, completionTime: 'yesterday' };
    expect(orderMilestone(one, status, now)?.occurrence).toBe('1/1970-01-01T00:00:00Z');
  });
});

describe('the milestones of an artifact', () => {
  const attempt = (number: number) =>
    ({
      workflowRef: { kind: 'Workflow', name: 'w', attempt: number },
      attempts: number,
      syncedAttempt: number,
    }) as const;
  const startTime = '2026-01-02T03:00:00Z';
  const completionTime = '2026-01-02T03:01:00Z';

  function of(status: ArtifactWorkflowStatus, more: Partial<ArtifactWorkflow> = {}): ArtifactWorkflow {
    return { ...made(order([image('a')]), status), ...more };
  }

  function heard(before: ArtifactWorkflow, after: ArtifactWorkflow) {
    const milestone = artifactMilestone(before, after, now);
    return milestone && `${milestone.name} ${milestone.occurrence} ${isoSeconds(milestone.time.getTime())}`;
  }

  it.each<[string, ArtifactWorkflowStatus, ArtifactWorkflowStatus, string | undefined]>([
    ['starts', {}, { phase: 'Running', startTime }, `started 1 ${startTime}`],
    ['starts out of a queue', { phase: 'Queued' }, { phase: 'Running' }, 'started 1 2026-01-02T03:04:05Z'],
    ['goes on', { phase: 'Running' }, { phase: 'Running', progress: '1/2' }, undefined],
    ['is queued', {}, { phase: 'Queued' }, undefined],
    [
      'succeeds',
      { phase: 'Running' },
      { phase: 'Succeeded', completionTime },
      `succeeded 1 ${completionTime}`,
    ],
    ['succeeds at once', {}, { phase: 'Succeeded', completionTime }, `succeeded 1 ${completionTime}`],
    ['fails', { phase: 'Running' }, { phase: 'Failed', completionTime }, `failed 1 ${completionTime}`],
    ['meets an error', { phase: 'Running' }, { phase: 'Error' }, 'failed 1 2026-01-02T03:04:05Z'],
    ['is terminated', { phase: 'Running' }, { phase: 'Stopped' }, 'failed 1 2026-01-02T03:04:05Z'],
    ['has failed already', { phase: 'Error' }, { phase: 'Failed', message: 'why' }, undefined],
    ['has no time', {}, { phase: 'Running', startTime: 'now' }, 'started 1 2026-01-02T03:04:05Z'],
  ])('when it %s', (_, before, after, expected) => {
    expect(heard(of({ ...attempt(1), ...before }), of({ ...attempt(1), ...after }))).toBe(expected);
  });

  it('are those of each attempt', () => {
    const before = of({ ...attempt(2), syncedAttempt: 1, phase: 'Running' });
    expect(heard(before, of({ ...attempt(2), phase: 'Running', startTime }))).toBe(`started 2 ${startTime}`);
    const failed = of({ ...attempt(2), syncedAttempt: 1, phase: 'Failed' });
    expect(heard(failed, of({ ...attempt(2), phase: 'Failed', completionTime }))).toBe(
      `failed 2 ${completionTime}`,
    );
  });

  it('are no failure while another attempt follows, and one when it turns out that none does', () => {
    const retry = { retry: { limit: 1 } };
    const artifact = (status: ArtifactWorkflowStatus) => made(order([image('a')]), status, retry);
    const running = artifact({ ...attempt(1), phase: 'Running' });
    const first = artifact({ ...attempt(1), phase: 'Failed', completionTime });
    expect(heard(running, first)).toBeUndefined();
    const hopeless = artifact({
      ...attempt(1),
      phase: 'Failed',
      completionTime,
      results: { reason: 'denied' },
    });
    expect(heard(running, hopeless)).toBe(`failed 1 ${completionTime}`);
    expect(heard(first, hopeless)).toBe(`failed 1 ${completionTime}`);
    const last = artifact({ ...attempt(2), phase: 'Failed', completionTime });
    expect(heard(artifact({ ...attempt(2), phase: 'Running' }), last)).toBe(`failed 2 ${completionTime}`);
  });

  it('are not a failure when the version is stopped because another replaced it', () => {
    const gone = (status: ArtifactWorkflowStatus) => {
      const one = of({ ...attempt(1), ...status });
      return { ...one, metadata: { ...one.metadata, deletionTimestamp: startTime } };
    };
    expect(heard(gone({ phase: 'Running' }), gone({ phase: 'Stopped' }))).toBeUndefined();
    expect(heard(gone({ phase: 'Running' }), gone({ phase: 'Succeeded' }))).toMatch(/^succeeded/);
  });

  it('of a schedule are those of its runs', () => {
    const daily = { cron: { schedules: ['@daily'] } };
    const artifact = (status: ArtifactWorkflowStatus) =>
      made(order([image('a')]), { phase: 'Active', ...status }, daily);
    const first = '2026-01-01T00:00:00Z';
    const second = '2026-01-02T00:00:00Z';
    const idle = artifact({});
    const running = artifact({ activeWorkflowRef: { name: 'run-1' }, lastScheduled: first });
    expect(heard(idle, running)).toBe(`started ${first} ${first}`);
    expect(heard(running, { ...running })).toBeUndefined();
    const ended = artifact({ lastScheduled: first, succeeded: 1 });
    expect(heard(running, ended)).toBe(`succeeded ${first} 2026-01-02T03:04:05Z`);
    expect(heard(ended, artifact({ lastScheduled: first, succeeded: 1, message: 'x' }))).toBeUndefined();
    const next = artifact({ activeWorkflowRef: { name: 'run-2' }, lastScheduled: second, succeeded: 1 });
    expect(heard(ended, next)).toBe(`started ${second} ${second}`);
    const failed = artifact({ lastScheduled: second, succeeded: 1, failed: 1 });
    expect(heard(next, failed)).toBe(`failed ${second} 2026-01-02T03:04:05Z`);
    // Its CronWorkflow was deleted, made again, and has run.
    expect(heard(artifact({ succeeded: 4 }), artifact({ lastScheduled: second, succeeded: 1 }))).toMatch(
      /^succeeded/,
    );
    expect(heard(artifact({ succeeded: 4 }), artifact({ succeeded: 0 }))).toBeUndefined();
  });
});
