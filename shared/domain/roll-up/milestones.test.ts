import { describe, expect, it } from 'vitest';
import { isoSeconds } from '#shared/base/meta';
import { fc } from '#shared/base/testing';
import type { ArtifactWorkflow, ArtifactWorkflowStatus } from '../kinds/artifact-workflow.ts';
import type { Order, OrderStatus } from '../kinds/order.ts';
import type { WorkflowPhase } from '../kinds/phases.ts';
import { planOrder } from '../plan/plan.ts';
import { broken, done, image, inputs, made, now, order, stored } from '../testing/plan-objects.ts';
import {
  artifactMilestones,
  firstAnnounced,
  lastMilestone,
  type Milestone,
  orderMilestones,
} from './milestones.ts';
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

/** What is announced of an Order when all that it had shown before was. */
function announced(before: Order, after: Order, when = now): string[] {
  return orderMilestones(after, when, lastMilestone(before)).map(textOf);
}

/** Without the hash that tells ends within one second apart. */
function textOf({ name, occurrence, time }: Milestone<string>): string {
  const [number, at] = occurrence.split('/');
  return [name, [number, at].filter((part) => part !== undefined).join('/'), isoSeconds(time.getTime())].join(
    ' ',
  );
}

function edited(of: Order, generation: number): Order {
  return { ...of, metadata: { ...of.metadata, generation } };
}

describe('the milestones of an Order', () => {
  const one = order([image('a')]);
  const running: ArtifactWorkflowStatus = { phase: 'Running' };

  it('are that it is accepted, and its end', () => {
    const first = rolled(one, [{}]);
    expect(announced(one, first)).toEqual(['accepted 1 2026-01-02T03:04:05Z']);
    const second = rolled(first, [running]);
    expect(announced(first, second)).toEqual([]);
    const ended = rolled(second, [done], at(60));
    expect(announced(second, ended, at(60))).toEqual([
      'completed 1/2026-01-02T03:05:05Z 2026-01-02T03:05:05Z',
    ]);
    expect(announced(ended, rolled(ended, [done], at(90)), at(90))).toEqual([]);
  });

  it('are all that nobody was told of, in their order', () => {
    expect(announced(one, rolled(one, [done], at(60)), at(60))).toEqual([
      'accepted 1 2026-01-02T03:05:05Z',
      'completed 1/2026-01-02T03:05:05Z 2026-01-02T03:05:05Z',
    ]);
    const nowhere = order([image('a')], { defaults: {} });
    expect(announced(nowhere, rolled(nowhere, []))).toEqual([
      'accepted 1 2026-01-02T03:04:05Z',
      'failed 1/2026-01-02T03:04:05Z 2026-01-02T03:04:05Z',
    ]);
  });

  it('are none where nothing is known of what was announced', () => {
    expect(orderMilestones(rolled(one, [done]), now)).toEqual([]);
    const { status = {}, ...rest } = rolled(one, [done]);
    expect(orderMilestones({ ...rest, status: { ...status, announced: '' } }, now)).toHaveLength(2);
  });

  it('are no failure while what is absent is waited for', () => {
    const absent = order([{ ...image('a'), type: 'tape' }]);
    const waiting = rolled(absent, []);
    expect(announced(absent, waiting)).toEqual([expect.stringMatching(/^accepted 1/)]);
    expect(announced(waiting, rolled(waiting, [], at(9)), at(9))).toEqual([]);
    expect(announced(waiting, rolled(waiting, [], at(11)), at(11))).toEqual([
      expect.stringMatching(/^failed 1/),
    ]);
  });

  describe('beside a schedule, which never ends,', () => {
    const mixed = order([image('a'), image('b'), { ...image('c'), cron: { schedules: ['@hourly'] } }]);
    const resting: ArtifactWorkflowStatus = { phase: 'Active' };
    const busy: ArtifactWorkflowStatus = { ...resting, activeWorkflowRef: { name: 'c-1' } };
    const late = (seconds: number) => ({ completionTime: isoSeconds(at(seconds).getTime()) });

    it('are a failure once the others have ended, and no other one with each of its runs', () => {
      const under = rolled(mixed, [{ ...broken }, running, resting]);
      expect(announced(mixed, under)).toEqual([expect.stringMatching(/^accepted 1/)]);
      const over = rolled(under, [broken, { ...done, ...late(60) }, resting], at(61));
      expect(over.status?.phase).toBe('Scheduled');
      expect(announced(under, over, at(61))).toEqual(['failed 1/2026-01-02T03:05:05Z 2026-01-02T03:05:05Z']);
      const again = rolled(over, [broken, { ...done, ...late(60) }, busy], at(90));
      expect(again.status?.phase).toBe('Running');
      expect(announced(over, again, at(90))).toEqual([]);
      const later = rolled(again, [broken, { ...done, ...late(60) }, resting], at(99));
      expect(announced(again, later, at(99))).toEqual([]);
    });

    it('are a failure, too, that is seen while it runs, and one more for a retry that fails', () => {
      const under = rolled(mixed, [running, done, busy]);
      const over = rolled(under, [{ ...broken, ...late(30) }, done, busy], at(31));
      expect(announced(under, over, at(31))).toEqual([
        expect.stringMatching(/^failed 1\/2026-01-02T03:04:35Z/),
      ]);
      const retried = rolled(over, [running, done, resting], at(40));
      expect(announced(over, retried, at(40))).toEqual([]);
      const failed = rolled(retried, [{ ...broken, ...late(50) }, done, resting], at(51));
      expect(announced(retried, failed, at(51))).toEqual([
        expect.stringMatching(/^failed 1\/2026-01-02T03:04:55Z/),
      ]);
    });

    it('are a failure of one that is invalid', () => {
      const wrong = order([
        { ...image('a'), type: 'tape' },
        { ...image('c'), cron: { schedules: ['@hourly'] } },
      ]);
      const waiting = rolled(wrong, [{}, resting]);
      expect(announced(wrong, waiting)).toEqual([expect.stringMatching(/^accepted 1/)]);
      expect(announced(waiting, rolled(waiting, [{}, resting], at(11)), at(11))).toEqual([
        expect.stringMatching(/^failed 1\//),
      ]);
    });

    it('are none while all is well, or nothing new is started', () => {
      const well = rolled(mixed, [done, running, resting]);
      expect(announced(well, rolled(well, [done, done, resting], at(9)), at(9))).toEqual([]);
      const asleep = order(mixed.spec.artifacts ?? [], { suspend: true });
      const before = rolled(asleep, [running, done, resting]);
      expect(announced(before, rolled(before, [broken, done, resting], at(9)), at(9))).toEqual([]);
    });
  });

  it('are accepted, and never completed, without artifacts', () => {
    const empty = order([]);
    expect(announced(empty, rolled(empty, []))).toEqual([expect.stringMatching(/^accepted 1/)]);
    expect(announced(rolled(empty, []), rolled(rolled(empty, []), [], at(60)), at(60))).toEqual([]);
  });

  it('are reached in every generation: again accepted, and ended, be it at once', () => {
    const before = rolled(one, [done]);
    const changed = edited(before, 2);
    expect(announced(before, rolled(changed, [running]))).toEqual([expect.stringMatching(/^accepted 2 /)]);
    expect(announced(before, rolled(changed, [done], at(60)), at(60))).toEqual([
      expect.stringMatching(/^accepted 2 /),
      expect.stringMatching(/^completed 2\/.* 2026-01-02T03:05:05Z$/),
    ]);
  });

  it('are one end more for each time that it ends, unseen between or not', () => {
    const first = rolled(one, [broken]);
    const retried = { ...broken, completionTime: isoSeconds(at(600).getTime()) };
    expect(announced(first, rolled(first, [retried], at(601)), at(601))).toEqual([
      expect.stringMatching(/^failed 1\/2026-01-02T03:14:05Z/),
    ]);
    const again = rolled(first, [running], at(500));
    expect(announced(first, again, at(500))).toEqual([]);
    expect(announced(again, rolled(again, [retried], at(601)), at(601))).toEqual([
      expect.stringMatching(/^failed 1\/2026-01-02T03:14:06Z/),
    ]);
  });

  it('are two ends within one second, with two ids', () => {
    const end = (attempts: number) => rolled(one, [{ ...done, attempts }]);
    const [first, second] = [end(1), end(2)];
    expect(textOf(orderMilestones(first, now, '1/accepted')[0] as Milestone<string>)).toBe(
      textOf(orderMilestones(second, now, '1/accepted')[0] as Milestone<string>),
    );
    expect(announced(first, second)).toHaveLength(1);
    expect(lastMilestone(first)).not.toBe(lastMilestone(second));
  });

  it('are none of one whose status only says that nobody has seen it', () => {
    const unseen = { ...one, status: { observedGeneration: -1 } };
    expect(announced(one, unseen)).toEqual([]);
    expect(announced(unseen, rolled(one, [{}]))).toEqual(['accepted 1 2026-01-02T03:04:05Z']);
  });

  it('are none of one that is being deleted', () => {
    for (const status of [done, running]) {
      const before = edited(rolled(one, [status]), 2);
      const deleted = {
        ...before,
        metadata: { ...before.metadata, deletionTimestamp: '2026-01-02T03:00:00Z' },
      };
      expect(announced(deleted, rolled(deleted, [status]))).toEqual([]);
      expect(announced(before, rolled(before, [status]))).not.toEqual([]);
    }
  });

  it('have no id twice, whatever becomes of its artifacts', () => {
    const phase = fc.constantFrom<WorkflowPhase>('Pending', 'Running', 'Succeeded', 'Failed', 'Stopped');
    const step = fc.record({ phases: fc.tuple(phase, phase), edit: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        let current = order([image('a'), image('b')]);
        let since = '';
        const ids: string[] = [];
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
          current = rolled(current, statuses, when);
          for (const milestone of orderMilestones(current, when, since)) {
            since = milestone.announced;
            ids.push(since);
          }
          expect(orderMilestones(current, when, since)).toEqual([]);
          expect(ids).toContain(`${current.metadata.generation ?? 1}/accepted`);
        }
        expect(new Set(ids).size).toBe(ids.length);
      }),
    );
  });

  it('need no time that is one', () => {
    const status: OrderStatus = { phase: 'Succeeded', observedGeneration: 1, completionTime: 'yesterday' };
    expect(
      orderMilestones({ ...one, status }, now, '1/accepted').map(({ occurrence }) => occurrence),
    ).toEqual([expect.stringMatching(/^1\/1970-01-01T00:00:00Z\//)]);
  });
});

describe('what the first write of a status says was announced', () => {
  it('is all that the status of an earlier version showed, and nothing of a new object', () => {
    const one = order([image('a')]);
    expect(firstAnnounced(one)).toEqual({ announced: '' });
    const ended = rolled(one, [done]);
    expect(firstAnnounced(ended)).toEqual({ announced: lastMilestone(ended) });
    expect(orderMilestones(ended, now, lastMilestone(ended))).toEqual([]);
    const known = { ...ended, status: { ...ended.status, announced: '1/accepted' } };
    expect(firstAnnounced(known)).toEqual({});
    expect(firstAnnounced({ apiVersion: 'v1', kind: 'Endpoint', metadata: { name: 'e' } })).toEqual({});
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
    return artifactMilestones(after, now, lastMilestone(before)).map(textOf).join(', ');
  }

  it.each<[string, ArtifactWorkflowStatus, ArtifactWorkflowStatus, string]>([
    ['starts', {}, { phase: 'Running', startTime }, `started 1 ${startTime}`],
    ['starts out of a queue', { phase: 'Queued' }, { phase: 'Running' }, 'started 1 2026-01-02T03:04:05Z'],
    ['goes on', { phase: 'Running' }, { phase: 'Running', progress: '1/2' }, ''],
    ['is queued', {}, { phase: 'Queued' }, ''],
    [
      'succeeds',
      { phase: 'Running' },
      { phase: 'Succeeded', completionTime },
      `succeeded 1 ${completionTime}`,
    ],
    ['succeeds at once', {}, { phase: 'Succeeded', completionTime }, `succeeded 1 ${completionTime}`],
    [
      'starts and succeeds unseen',
      {},
      { phase: 'Succeeded', startTime, completionTime },
      `started 1 ${startTime}, succeeded 1 ${completionTime}`,
    ],
    ['fails', { phase: 'Running' }, { phase: 'Failed', completionTime }, `failed 1 ${completionTime}`],
    ['meets an error', { phase: 'Running' }, { phase: 'Error' }, 'failed 1 2026-01-02T03:04:05Z'],
    ['is terminated', { phase: 'Running' }, { phase: 'Stopped' }, 'failed 1 2026-01-02T03:04:05Z'],
    ['has failed already', { phase: 'Error' }, { phase: 'Failed', message: 'why' }, ''],
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
    expect(heard(running, first)).toBe('');
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
    expect(heard(gone({ phase: 'Running' }), gone({ phase: 'Stopped' }))).toBe('');
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
    expect(heard(running, { ...running })).toBe('');
    const ended = artifact({ lastScheduled: first, succeeded: 1 });
    expect(heard(running, ended)).toBe(`succeeded 1 2026-01-02T03:04:05Z`);
    expect(heard(ended, artifact({ lastScheduled: first, succeeded: 1, message: 'x' }))).toBe('');
    const next = artifact({ activeWorkflowRef: { name: 'run-2' }, lastScheduled: second, succeeded: 1 });
    expect(heard(ended, next)).toBe(`started ${second} ${second}`);
    const failed = artifact({ lastScheduled: second, succeeded: 1, failed: 1 });
    expect(heard(next, failed)).toBe(`failed 1 2026-01-02T03:04:05Z`);
    // Ends that were announced one after the other have the ids that they have together.
    const both = artifact({ lastScheduled: second, succeeded: 2, failed: 1 });
    expect(heard(idle, both)).toBe('failed 1 2026-01-02T03:04:05Z, succeeded 2 2026-01-02T03:04:05Z');
    expect(heard(failed, both)).toBe('succeeded 2 2026-01-02T03:04:05Z');
    // Its CronWorkflow was deleted, made again, and has run.
    expect(heard(artifact({ succeeded: 4 }), artifact({ lastScheduled: second, succeeded: 1 }))).toMatch(
      /^succeeded/,
    );
    expect(heard(artifact({ succeeded: 4 }), artifact({ succeeded: 0 }))).toBe('');
  });
});
