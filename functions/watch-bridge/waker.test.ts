import { describe, expect, it } from 'vitest';
import type { KubeObject } from '#shared/meta';
import { FakeClock } from '../../shared/async/testing/fake-clock.ts';
import { artifactWorkflow, endpoint, ociType, order } from '../../shared/domain/testing/objects.ts';
import { ObjectTable } from './objects/object-table.ts';
import { Waker } from './waker.ts';

const minute = 60_000;
const condition = { reason: 'x', message: 'x', lastTransitionTime: '2026-01-02T03:04:05Z' };

function orderIn(phase: string, name: string, spec: object = {}, more: object = {}): KubeObject {
  const ready = phase === 'Succeeded' || phase === 'Scheduled';
  const status = {
    phase,
    observedGeneration: 1,
    endpointGenerations: { source: 1, destination: 1 },
    secretGenerations: { source: 1 },
    conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', ...condition }],
    ...more,
  };
  return { ...order(name, ['a:1'], spec), status } as unknown as KubeObject;
}

function workflowIn(phase: string | undefined, name: string, spec: object = {}, status: object = {}) {
  const made = artifactWorkflow(name);
  const ended = phase !== undefined && phase !== 'Active' ? { completionTime: '2026-01-02T03:04:05Z' } : {};
  const shown = phase === undefined ? {} : { phase, observedGeneration: 1 };
  return {
    ...made,
    spec: { ...made.spec, ...spec },
    status: { ...shown, ...ended, ...status },
  } as unknown as KubeObject;
}

const daily = { kind: 'CronWorkflow', name: 'daily', attempt: 1 };
const cron = {
  apiVersion: 'argoproj.io/v1alpha1',
  kind: 'CronWorkflow',
  metadata: { name: 'daily', namespace: 'team', uid: 'uid-cron' },
  spec: { suspend: false },
  status: { active: [], lastScheduledTime: '2026-01-02T00:00:00Z' },
};
const scheduled = workflowIn(
  'Active',
  'scheduled',
  { cron: { schedules: ['@daily'] } },
  { workflowRef: daily, lastScheduled: '2026-01-02T00:00:00Z' },
);
const guarded = endpoint(
  'source',
  { secretRef: { name: 'login' } },
  { secretGeneration: 1, credentialDigest: 'k:1' },
);
const deletionTimestamp = '2026-01-02T03:04:05Z';

/** One of every kind, in every state in which nothing is to be done. */
const atRest: KubeObject[] = [
  orderIn('Succeeded', 'succeeded'),
  orderIn(
    'Failed',
    'failed',
    {},
    {
      artifactWorkflows: { 'index-0': { artifactIndex: 0, phase: 'Invalid', message: 'no such type' } },
    },
  ),
  orderIn('Scheduled', 'scheduled-order'),
  orderIn('Suspended', 'suspended-order', { suspend: true }),
  orderIn('Cancelled', 'cancelled-order', { cancel: true }),
  workflowIn('Succeeded', 'done'),
  workflowIn('Failed', 'broken'),
  workflowIn('Stopped', 'stopped'),
  workflowIn('Cancelled', 'cancelled', { cancel: true }),
  workflowIn(undefined, 'suspended', { suspend: true }),
  workflowIn(undefined, 'rendered', { suspend: true }, { configSecret: { name: 'rendered' } }),
  scheduled,
  {
    ...workflowIn('Succeeded', 'held'),
    metadata: {
      ...workflowIn('Succeeded', 'held').metadata,
      deletionTimestamp,
      finalizers: ['example.com/backup'],
    },
  },
  guarded as unknown as KubeObject,
  endpoint('destination', { tls: { caSecretRef: { name: 'authority' } } }) as unknown as KubeObject,
  endpoint('unused', { secretRef: { name: 'absent' } }) as unknown as KubeObject,
  ociType() as unknown as KubeObject,
  cron as unknown as KubeObject,
];
const woken = atRest.filter(({ kind }) => ['Order', 'ArtifactWorkflow', 'Endpoint'].includes(kind)).length;

function setUp(objects: readonly KubeObject[]) {
  const clock = new FakeClock();
  const sent: { at: number; wake: string }[] = [];
  const waker = new Waker({
    // Nothing stays as it is: each state is read back when it is needed.
    objects: new ObjectTable(1),
    clock,
    random: () => 0.5,
    send: ({ target, reason }) =>
      sent.push({ at: clock.now(), wake: `${target.kind} ${target.name} ${reason}` }),
    forget: () => undefined,
    foundWork: () => undefined,
  });
  for (const object of objects) waker.change({ kind: object.kind, after: object });
  void waker.synced();
  const since = (at: number) => sent.filter((one) => one.at >= at).map(({ wake }) => wake);
  return { clock, sent, waker, since };
}

describe('a conduit at rest', () => {
  it('sends nothing between the bunches of every hour', () => {
    const { clock, sent, waker } = setUp(atRest);
    expect(waker.unsettled).toBe(0);
    clock.advance(190 * minute);
    // At the start alone, more looks at an Endpoint without its Secret.
    for (const at of [4_500, 9_000]) expect(sent.shift()).toEqual({ at, wake: 'Endpoint unused resync' });
    const times = [...new Set(sent.map(({ at }) => at))];
    // One soon after the start, for what changed while no bridge ran.
    expect(times).toEqual([1, 61, 121, 181].map((at) => at * minute));
    expect(sent.length).toBe(4 * woken);
    expect(new Set(sent.map(({ wake }) => wake.split(' ')[2]))).toEqual(new Set(['resync']));
  });

  it('comes to rest again when the last Order has ended', () => {
    const { clock, waker, since } = setUp(atRest);
    clock.advance(2 * minute);
    const running = orderIn('Running', 'running');
    waker.change({ kind: 'Order', after: running });
    clock.advance(3 * minute);
    expect(since(2 * minute)).toEqual(
      expect.arrayContaining([
        'Order running resync',
        'Endpoint source resync',
        'Endpoint destination resync',
      ]),
    );
    expect(since(2 * minute)).not.toContain('Endpoint unused resync');
    waker.change({ kind: 'Order', before: running, after: orderIn('Succeeded', 'running') });
    const end = clock.now();
    clock.advance(50 * minute);
    expect(since(end + 1)).toEqual([]);
  });

  it('looks every minute for a Secret that an Order waits for, though the Order has failed', () => {
    const { clock, waker, since } = setUp(atRest);
    clock.advance(2 * minute);
    const waiting = orderIn(
      'Failed',
      'waiting',
      { defaults: { srcRef: { name: 'unused' }, dstRef: { name: 'destination' } } },
      {
        endpointGenerations: { unused: 1, destination: 1 },
        secretGenerations: {},
      },
    );
    waker.change({ kind: 'Order', after: waiting });
    const start = clock.now();
    clock.advance(4 * minute);
    expect(since(start + 1).filter((wake) => wake === 'Endpoint unused resync').length).toBe(4);
  });

  it('looks at the credentials of Endpoints that were at rest when an Order begins to use them, and once', () => {
    const { clock, waker, since } = setUp(atRest);
    clock.advance(10 * minute);
    const start = clock.now();
    for (const name of ['first', 'second'])
      waker.change({ kind: 'Order', after: order(name, ['a:1']) as unknown as KubeObject });
    expect(since(start)).toEqual([
      'Endpoint destination resync',
      'Endpoint source resync',
      'Order first changed',
      'Order second changed',
    ]);
  });

  it('looks twice more at an Endpoint that has come without its Secret, before its artifacts are Invalid', () => {
    const { clock, waker, since } = setUp(atRest);
    clock.advance(2 * minute);
    const start = clock.now();
    const fresh = endpoint('fresh', { secretRef: { name: 'absent' } }) as unknown as KubeObject;
    waker.change({ kind: 'Endpoint', before: { ...fresh, status: {} }, after: fresh });
    clock.advance(10_000);
    expect(since(start + 1)).toEqual(['Endpoint fresh resync', 'Endpoint fresh resync']);
    clock.advance(30 * minute);
    expect(since(start + 1).length).toBe(2);
  });

  it('looks again when an Order begins to use an Endpoint that has long been without its Secret, however many Orders follow', () => {
    const { clock, sent, waker } = setUp(atRest);
    clock.advance(10 * minute);
    const start = clock.now();
    for (let at = 0; at < 4; at += 1) {
      const ends = { srcRef: { name: 'unused' }, dstRef: { name: 'destination' } };
      const waiting = orderIn('Pending', `waiting-${at}`, { defaults: ends });
      waker.change({ kind: 'Order', after: waiting });
      clock.advance(3_000);
    }
    clock.advance(10_000);
    const looks = sent.filter(({ at, wake }) => at > start && wake === 'Endpoint unused resync');
    expect(looks.map(({ at }) => at - start)).toEqual([4_500, 9_000, 13_500, 18_000]);
  });

  it.each<[string, KubeObject]>([
    [
      'a quota',
      workflowIn(undefined, 'stuck', {}, { waitReason: 'SubmissionFailed', waitMessage: 'exceeded quota' }),
    ],
    ['an account', workflowIn('Failed', 'stuck', {}, { message: 'serviceaccount "arc-workflow" not found' })],
  ])(
    'wakes what waits for %s every minute for ten minutes, then in the bunches, until its Order changes',
    (_, stuck) => {
      const failed = orderIn(
        'Failed',
        'order',
        {},
        {
          artifactWorkflows: { stuck: { artifactIndex: 0, phase: 'Invalid', message: 'x' } },
        },
      );
      const { clock, waker, since } = setUp([
        ...atRest.filter(({ kind }) => kind !== 'ArtifactWorkflow'),
        failed,
        stuck,
      ]);
      const woken = (from: number) =>
        since(from).filter((wake) => wake.startsWith('ArtifactWorkflow stuck')).length;
      clock.advance(12 * minute);
      const end = clock.now();
      expect(woken(1)).toBeGreaterThan(9);
      clock.advance(48 * minute);
      expect(since(end + 1)).toEqual([]);
      const annotated = {
        ...failed,
        metadata: { ...failed.metadata, annotations: { 'arc.opendefense.cloud/retry-at': '1' } },
      };
      waker.change({ kind: 'Order', before: failed, after: annotated });
      const start = clock.now();
      clock.advance(2 * minute);
      expect(since(start)).toContain('Order order changed');
      expect(woken(start)).toBeGreaterThan(0);
    },
  );

  it.each(['Scheduled', 'Cancelled', 'Failed'] as const)(
    'wakes an Order that is %s once more after a retry is asked for: the broker may have lost the first wake',
    (phase) => {
      const order = orderIn(phase, 'order');
      const { clock, waker, since } = setUp([...atRest.filter(({ kind }) => kind === 'Endpoint'), order]);
      clock.advance(30 * minute);
      const annotations = { 'arc.opendefense.cloud/retry-at': '1767323000' };
      waker.change({
        kind: 'Order',
        before: order,
        after: { ...order, metadata: { ...order.metadata, annotations } },
      });
      const start = clock.now();
      clock.advance(2 * minute);
      expect(since(start).filter((wake) => wake.startsWith('Order'))).toEqual([
        'Order order changed',
        'Order order resync',
      ]);
    },
  );

  it('wakes an Order whose artifact waits for its namespace when that is given to ARC, however late, and no other Order', () => {
    const message = 'serviceaccount "arc-workflow" not found';
    const stuck = workflowIn('Failed', 'stuck', {}, { message });
    const entry = { artifactIndex: 0, phase: 'Invalid', message: 'x' };
    const failed = orderIn('Failed', 'order', {}, { artifactWorkflows: { stuck: entry } });
    const others = atRest.filter(({ kind }) => kind !== 'ArtifactWorkflow');
    const { clock, waker, since } = setUp([...others, failed, stuck]);
    clock.advance(100 * minute);
    const start = clock.now();
    const metadata = { name: 'arc-workflow', namespace: 'team', uid: 'given' };
    waker.change({ kind: 'ServiceAccount', after: { apiVersion: 'v1', kind: 'ServiceAccount', metadata } });
    clock.advance(minute + 1);
    const orders = since(start).filter((wake) => wake.startsWith('Order'));
    expect(new Set(orders)).toEqual(new Set(['Order order inputs', 'Order order resync']));
    expect(since(start)).toContain('ArtifactWorkflow stuck resync');
  });

  it('asks for the first probe of an Endpoint until there was one', () => {
    const creationTimestamp = new Date(0).toISOString();
    const before = {
      ...guarded,
      metadata: { ...guarded.metadata, creationTimestamp },
    } as unknown as KubeObject;
    const { clock, waker, since } = setUp([...atRest, before]);
    clock.advance(2 * minute);
    const asked = () => since(1).filter((wake) => wake === 'Endpoint source due').length;
    expect(asked()).toBe(2);
    const lastProbeTime = new Date(2 * minute).toISOString();
    const conditions = [{ type: 'Ready', status: 'True', ...condition, lastTransitionTime: lastProbeTime }];
    const after = { ...before, status: { ...guarded.status, lastProbeTime, conditions } };
    waker.change({ kind: 'Endpoint', before, after });
    clock.advance(7 * minute);
    expect(asked()).toBe(2);
  });

  it.each<[string, object]>([
    ['a run that has begun', { status: { ...cron.status, active: [{ name: 'run' }] } }],
    ['a run that came and went', { status: { ...cron.status, lastScheduledTime: '2026-01-03T00:00:00Z' } }],
    ['that it is suspended', { spec: { suspend: true } }],
  ])('wakes an ArtifactWorkflow again that does not show of its CronWorkflow %s', (_, change) => {
    const { clock, waker, since } = setUp(atRest);
    clock.advance(2 * minute);
    const after = {
      ...cron,
      ...change,
      metadata: {
        ...cron.metadata,
        ownerReferences: [
          {
            apiVersion: 'arc.opendefense.cloud/v1alpha1',
            kind: 'ArtifactWorkflow',
            name: 'scheduled',
            uid: 'uid-scheduled',
            controller: true,
          },
        ],
      },
    };
    waker.change({
      kind: 'CronWorkflow',
      before: cron as unknown as KubeObject,
      after: after as unknown as KubeObject,
    });
    const start = clock.now();
    clock.advance(90_000);
    expect(since(start)).toContain('ArtifactWorkflow scheduled workflow');
    expect(since(start + 1)).toContain('ArtifactWorkflow scheduled resync');
  });
});
