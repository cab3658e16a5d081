import { describe, expect, it } from 'vitest';
import { largestObjectBytes, mergePatchBetween } from '#shared/base/meta';
import { fc } from '#shared/base/testing';
import type { ArtifactWorkflow, ArtifactWorkflowStatus } from '../kinds/artifact-workflow.ts';
import type { Artifact, Order, OrderStatus } from '../kinds/order.ts';
import type { WorkflowPhase } from '../kinds/phases.ts';
import { annotations } from '../kinds/well-known.ts';
import { schedulesOff } from '../lifecycle/holds.ts';
import { type OrderPlan, planOrder } from '../plan/plan.ts';
import { endpoint } from '../testing/objects.ts';
import { broken, done, image, inputs, now, order, stored } from '../testing/plan-objects.ts';
import { orderStatusRoom } from './order-size.ts';
import { rollUp } from './rollup.ts';

const later = new Date(now.getTime() + 3_600_000);
const absent: Artifact = { name: 'absent', type: 'tape' };
const bad: Artifact = { name: 'bad', type: 'oci', srcRef: { name: 'push' } };
const known = inputs({ endpoints: [...inputs().endpoints, endpoint('push', { usage: 'PushOnly' })] });
const daily = { schedules: ['@daily'] };

function children(
  plan: OrderPlan,
  statuses: ReadonlyArray<ArtifactWorkflowStatus | undefined>,
): ArtifactWorkflow[] {
  return plan.artifacts.flatMap((one, index) =>
    one.state === 'ready' && statuses[index] ? [stored(one.workflow, statuses[index])] : [],
  );
}

function roll(of: Order, statuses: ReadonlyArray<ArtifactWorkflowStatus | undefined>, at = now) {
  const plan = planOrder(of, known);
  return rollUp(of, plan, children(plan, statuses), at);
}

const preparing = 'its Workflow is being prepared (since 2026-01-02T03:04:05Z)';

const running: ArtifactWorkflowStatus = { phase: 'Running', progress: '1/4' };

describe('rollUp', () => {
  it('says that schedules are switched off, and that a person has to act when they stay so', () => {
    const scheduled = order([{ ...image('a'), cron: daily }]);
    const seen: ArtifactWorkflowStatus = { phase: 'Pending', message: schedulesOff.message };
    const first = roll(scheduled, [seen]);
    expect(first).toMatchObject({ phase: 'Pending', message: expect.stringContaining(schedulesOff.message) });
    const lasting = roll({ ...scheduled, status: first }, [seen], later);
    expect(Object.values(lasting.artifactWorkflows ?? {})).toMatchObject([
      { phase: 'Invalid', reason: 'SchedulesOff' },
    ]);
    expect(lasting.conditions).toContainEqual(
      expect.objectContaining({ type: 'Stalled', status: 'True', reason: 'SchedulesOff' }),
    );
    expect(roll({ ...scheduled, status: lasting }, [{ phase: 'Active' }], later).phase).toBe('Scheduled');
  });

  it('prepares nothing of an Order that is being deleted, and says so', () => {
    const of = order([image('a'), image('b')]);
    const metadata = { ...of.metadata, generation: 2, deletionTimestamp: now.toISOString() };
    const status = roll(of, [running, running]);
    const after = roll({ ...of, metadata, status }, [undefined, running]);
    expect(Object.values(after.artifactWorkflows ?? {})).toMatchObject([
      { phase: 'Pending', reason: 'Ending', message: 'the Order is being deleted' },
      { phase: 'Running' },
    ]);
    expect(after.message).toContain('artifact 0 (a): the Order is being deleted');
  });

  it('quotes no half character of a long message', () => {
    const message = `${'x'.repeat(299)}😀 is not there`;
    const status = roll(order([image('a')]), [{ ...broken, message }]);
    expect(status.message?.isWellFormed()).toBe(true);
    expect(status.message).toMatch(/xxx…$/);
  });

  const cases: Array<[string, Order, Array<ArtifactWorkflowStatus | undefined>, string, string]> = [
    ['nothing listed', order([]), [], 'Succeeded', 'the Order lists no artifacts'],
    [
      'nothing made yet',
      order([image('a')]),
      [],
      'Pending',
      `0 of 1 succeeded, 1 pending; artifact 0 (a): ${preparing}`,
    ],
    [
      'one running',
      order([image('a'), image('b')]),
      [running, done],
      'Running',
      '1 of 2 succeeded, 1 running',
    ],
    [
      'some done',
      order([image('a'), image('b')]),
      [done],
      'Running',
      `1 of 2 succeeded, 1 pending; artifact 1 (b): ${preparing}`,
    ],
    ['all done', order([image('a'), image('b')]), [done, done], 'Succeeded', '2 of 2 succeeded'],
    [
      'one failed',
      order([image('a'), image('b')]),
      [done, broken],
      'Failed',
      '1 of 2 succeeded, 1 failed; artifact 1 (b): the registry refused the push',
    ],
    [
      'one invalid',
      order([bad, image('b')]),
      [undefined, done],
      'Failed',
      '1 of 2 succeeded, 1 invalid; artifact 0 (bad): Endpoint "push" is PushOnly and cannot be a source (since 2026-01-02T03:04:05Z)',
    ],
    [
      'suspended',
      order([image('a')], { suspend: true }),
      [],
      'Suspended',
      `0 of 1 succeeded, 1 pending; suspended: nothing new is started; artifact 0 (a): ${preparing}`,
    ],
    [
      'only a schedule',
      order([{ ...image('a'), cron: daily }]),
      [{ phase: 'Active' }],
      'Scheduled',
      '0 of 1 succeeded, 1 pending',
    ],
    [
      'a run of a schedule',
      order([{ ...image('a'), cron: daily }]),
      [{ phase: 'Active', activeWorkflowRef: { name: 'run' } }],
      'Running',
      '0 of 1 succeeded, 1 running',
    ],
  ];

  it('is stalled where an artifact has failed beside a schedule, and ready again once it has not', () => {
    const of = order([image('a'), { ...image('b'), cron: daily }]);
    const verdict = (statuses: Parameters<typeof roll>[1]) => {
      const { phase, conditions = [] } = roll(of, statuses);
      const told = conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`);
      return [phase, ...told];
    };
    expect(verdict([{ phase: 'Failed', message: 'x' }, { phase: 'Active' }])).toEqual([
      'Scheduled',
      'Ready=False Failed',
      'Reconciling=False Failed',
      'Stalled=True Failed',
    ]);
    expect(verdict([{ phase: 'Succeeded' }, { phase: 'Active' }])).toEqual([
      'Scheduled',
      'Ready=True Scheduled',
      'Reconciling=False Scheduled',
      'Stalled=False Scheduled',
    ]);
  });

  it.each(cases)('with %s', (_, of, statuses, phase, message) => {
    expect(roll(of, statuses)).toMatchObject({ phase, message });
  });

  it('shows a failure that will be tried again as pending', () => {
    const of = order([image('a')], { retry: { limit: 1 } });
    const failed = { ...broken, attempts: 1, nextAttemptTime: '2026-01-02T03:05:00Z' };
    const status = roll(of, [failed]);
    expect(status.phase).toBe('Pending');
    expect(Object.values(status.artifactWorkflows ?? {})[0]).toMatchObject({
      phase: 'Pending',
      message: 'attempt 1 failed, trying again at 2026-01-02T03:05:00Z: the registry refused the push',
    });
  });

  it('counts every artifact once', () => {
    const phases: WorkflowPhase[] = [
      'Pending',
      'Queued',
      'Running',
      'Succeeded',
      'Failed',
      'Error',
      'Stopped',
    ];
    fc.assert(
      fc.property(fc.array(fc.option(fc.constantFrom(...phases)), { maxLength: 20 }), (list) => {
        const of = order(list.map((_, index) => image(`a${index}`)));
        const status = roll(
          of,
          list.map((phase) => (phase ? { phase } : undefined)),
        );
        const { total, ...parts } = status.counts ?? { total: -1 };
        expect(Object.values(parts).reduce((sum, count) => sum + count, 0)).toBe(total);
        expect(total).toBe(list.length);
        expect(Object.keys(status.artifactWorkflows ?? {})).toHaveLength(list.length);
      }),
    );
  });

  it('equals what is there already, at any later time, until something changes', () => {
    const statuses = [done, broken, running, undefined];
    const of = order([image('a'), image('b'), image('c'), image('d'), bad]);
    const status = roll(of, statuses);
    const again = roll({ ...of, status }, statuses, later);
    expect(again).toEqual(status);
    expect(mergePatchBetween(status, again)).toBeUndefined();
    const all = roll(order([bad]), []);
    expect(roll({ ...order([bad]), status: all }, [], later)).toEqual(all);
  });

  it('moves the time of a condition only with its status', () => {
    const of = order([image('a')]);
    const before = roll(of, [running]);
    const same = roll({ ...of, status: before }, [{ ...running, progress: '2/4' }], later);
    expect(same.conditions).toEqual(before.conditions);
    const after = roll({ ...of, status: before }, [done], later);
    expect(after.conditions).toContainEqual({
      type: 'Ready',
      status: 'True',
      reason: 'Succeeded',
      message: '',
      lastTransitionTime: '2026-01-02T04:04:05Z',
      observedGeneration: 1,
    });
    expect(after.conditions).toContainEqual(
      expect.objectContaining({
        type: 'Stalled',
        status: 'False',
        lastTransitionTime: '2026-01-02T03:04:05Z',
      }),
    );
  });

  it('remembers what finished after its ArtifactWorkflow is gone, and even its Endpoint', () => {
    const of = order([image('a')]);
    const seen = { ...of, status: roll(of, [done]) };
    expect(roll(seen, [], later)).toEqual(seen.status);
    const lost = rollUp(seen, planOrder(seen, { endpoints: [], types: [] }), [], later);
    expect(lost.phase).toBe('Succeeded');
    expect(lost.artifactWorkflows).toEqual(seen.status.artifactWorkflows);
    const edited = { ...seen, metadata: { ...seen.metadata, generation: 2 } };
    expect(rollUp(edited, planOrder(edited, { endpoints: [], types: [] }), [], later).counts?.pending).toBe(
      1,
    );
  });

  it('records the force time it was computed for, and what inputs it saw', () => {
    const of = order([image('a')]);
    const forced = {
      ...of,
      metadata: { ...of.metadata, annotations: { [annotations.forceAt]: '1767225600' } },
    };
    expect(roll(forced, [])).toMatchObject({
      lastForceAt: '2026-01-01T00:00:00Z',
      endpointGenerations: { from: 1, to: 1 },
      secretGenerations: { from: 1 },
    });
  });
});

describe('what is absent', () => {
  const of = order([absent]);
  const at = (seconds: number) => new Date(now.getTime() + seconds * 1000);
  const entryOf = (status: OrderStatus) => Object.values(status.artifactWorkflows ?? {})[0];
  const first = roll(of, []);
  const waited = (seconds: number, before = first) => roll({ ...of, status: before }, [], at(seconds));
  const message =
    'artifact type "tape" not found: create an ArtifactType in this namespace or a ClusterArtifactType, or correct type';

  it('is waited for, and named with what would help', () => {
    expect(first).toMatchObject({
      phase: 'Pending',
      message: `0 of 1 succeeded, 1 pending; artifact 0 (absent): ${message} (since 2026-01-02T03:04:05Z)`,
    });
    const entry = { phase: 'Pending', reason: 'TypeMissing', message, since: '2026-01-02T03:04:05Z' };
    expect(entryOf(first)).toMatchObject(entry);
    expect(first.conditions).toMatchObject([
      { type: 'Ready', status: 'False', reason: 'TypeMissing' },
      { type: 'Reconciling', status: 'True', reason: 'TypeMissing' },
      { type: 'Stalled', status: 'False' },
    ]);
    expect(waited(9)).toEqual(first);
  });

  it('is Invalid when it is still absent after ten seconds, and stays so for every clock', () => {
    const lasting = waited(11);
    expect(lasting).toMatchObject({ phase: 'Failed', counts: { invalid: 1 } });
    expect(entryOf(lasting)).toMatchObject({ phase: 'Invalid', since: '2026-01-02T03:04:05Z' });
    expect(lasting.conditions).toContainEqual(
      expect.objectContaining({ type: 'Stalled', status: 'True', reason: 'TypeMissing' }),
    );
    expect(entryOf(waited(-300, lasting))?.phase).toBe('Invalid');
  });

  it('is waited for anew after an edit that asks for something else', () => {
    const other = { ...order([{ ...absent, type: 'disk' }]), status: waited(11) };
    expect(entryOf(roll(other, [], at(12)))).toMatchObject({
      phase: 'Pending',
      since: '2026-01-02T03:04:17Z',
    });
  });

  it('is waited for by a clock that is behind the one that wrote since when', () => {
    const behind = waited(-300);
    expect(entryOf(behind)).toMatchObject({ phase: 'Pending', since: '2026-01-02T02:59:05Z' });
    expect(waited(-289, behind).phase).toBe('Failed');
  });

  it('is waited for on, where somebody refuses it with other words each time', () => {
    const refused = (text: string, before?: OrderStatus, seconds = 0) => {
      const told = { waitReason: 'SubmissionFailed', waitMessage: text };
      const one = { ...order([image('a')]), ...(before ? { status: before } : {}) };
      return roll(one, [told], at(seconds));
    };
    const lasting = refused('request 2', refused('request 1'), 11);
    expect(entryOf(lasting)).toMatchObject({ phase: 'Invalid', message: 'request 2' });
  });

  it('comes before what only waits, and says how many more need a person', () => {
    const two = roll(order([image('a'), absent, { ...absent, name: 'also', type: 'disk' }]), []);
    expect(two.message).toContain(
      `; artifact 1 (absent): ${message} (since 2026-01-02T03:04:05Z), and 1 more`,
    );
  });

  it('is the answer though an earlier version has arrived, once the artifact is edited or forced', () => {
    const before = order([image('a')]);
    const status = roll(before, [done]);
    const after = order([{ ...image('a'), srcRef: { name: 'nowhere' } }]);
    const edited = { ...after, metadata: { ...after.metadata, generation: 2 }, status };
    const entryAfter = (child: ArtifactWorkflowStatus, of = edited) =>
      entryOf(rollUp(of, planOrder(of, known), children(planOrder(before, known), [child]), later));
    expect(entryAfter(done)).toMatchObject({ phase: 'Pending', reason: 'EndpointMissing' });
    // What runs is said to run, and can be cancelled.
    expect(entryAfter(running)).toMatchObject({ phase: 'Running' });
    const forced = { ...order([{ ...image('a') }]), status };
    forced.metadata = { ...forced.metadata, annotations: { [annotations.forceAt]: '1800000000' } };
    const gone = planOrder(forced, { endpoints: [], types: [] });
    const unanswered = rollUp(forced, gone, children(planOrder(before, known), [done]), later);
    expect(entryOf(unanswered)).toMatchObject({ phase: 'Pending', reason: 'EndpointMissing' });
  });
});

describe('an Order without artifacts', () => {
  it.each([
    ['an empty list', order([])],
    ['no list', { ...order([]), spec: {} }],
  ])('is Ready because it lists no artifacts, and has completed nothing: %s', (_, of) => {
    const status = roll(of, []);
    expect(status.completionTime).toBeUndefined();
    expect(status.message).toBe('the Order lists no artifacts');
    expect(status.conditions).toMatchObject([
      { type: 'Ready', status: 'True', reason: 'NoArtifacts', message: '' },
      { type: 'Reconciling', status: 'False', reason: 'NoArtifacts' },
      { type: 'Stalled', status: 'False', reason: 'NoArtifacts' },
    ]);
  });
});

describe('the size of a status', () => {
  // Longer than any text that a status keeps.
  const texts = ['x'.repeat(4_000), '"\\\n\u0001'.repeat(1_000), '🚢'.repeat(2_000)];

  it.each([1, 10, 500, 5_000])('is bounded for %d artifacts, whatever they say', (count) => {
    const of = order(Array.from({ length: count }, (_, index) => image(`artifact-${index}`)));
    const ends = of.spec.artifacts?.map((_, index) => ({ ...broken, message: texts[index % 3] ?? '' })) ?? [];
    const types = of.spec.artifacts?.map((one, index) => ({ ...one, type: `${index}${texts[index % 3]}` }));
    for (const status of [
      roll(of, ends),
      roll({ ...of, spec: { ...of.spec, artifacts: types ?? [] } }, []),
    ]) {
      expect(Buffer.byteLength(JSON.stringify(status))).toBeLessThan(920 * 1024);
      expect(Buffer.byteLength(JSON.stringify({ ...of, status }))).toBeLessThan(largestObjectBytes);
      expect(Buffer.byteLength(JSON.stringify(status))).toBeLessThanOrEqual(orderStatusRoom(of));
      expect((status.counts?.failed ?? 0) + (status.counts?.pending ?? 0)).toBe(count);
    }
  });

  it('shows digests and bytes where there is room for them', () => {
    const bytes = { copied: 7, existed: 8, mounted: 9 };
    const few = roll(order([image('a')]), [{ ...done, results: { ...done.results, bytes } }]);
    expect(Object.values(few.artifactWorkflows ?? {})[0]).toMatchObject({
      artifact: 'a',
      name: 'a',
      digest: done.results?.digest,
      bytesCopied: 7,
    });
  });
});
