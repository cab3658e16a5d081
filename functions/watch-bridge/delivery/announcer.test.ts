import { describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { createLogger } from '#shared/base/telemetry';
import { type ArtifactWorkflowStatus, type Order, settingsName, wholeShard } from '#shared/domain';
import { FakeClock } from '../../../shared/base/async/testing/fake-clock.ts';
import { artifactWorkflow, order } from '../../../shared/domain/testing/objects.ts';
import { type Change, changeOf } from '../duties/neighbours.ts';
import type { Observed } from '../view/kept.ts';
import { ObservedView } from '../view/observed-view.ts';
import { Announcer } from './announcer.ts';
import type { Outcome } from './queue.ts';

const key = '0123456789abcdef';
const child = (status: ArtifactWorkflowStatus) => artifactWorkflow(`order-${key}`, { status });
const running = child({ announced: '', phase: 'Running', startTime: '2026-01-01T00:00:00Z' });
const succeeded = child({ announced: '', phase: 'Succeeded', startTime: '2026-01-01T00:00:00Z' });
const base = order('order', ['a:1']);

function orderWith(status: Order['status']): Order {
  return { ...base, status: { announced: '', observedGeneration: 1, ...status } };
}

const accepted = orderWith({ phase: 'Pending' });
const completed = orderWith({
  phase: 'Succeeded',
  counts: { total: 1, invalid: 0, pending: 0, running: 0, succeeded: 1, failed: 0, cancelled: 0 },
  artifactWorkflows: { [key]: { artifactIndex: 0, phase: 'Succeeded' } },
});

const transient: Outcome = { result: 'transient', reason: '503' };

function setUp({ isListed = true } = {}) {
  const clock = new FakeClock();
  const view = new ObservedView();
  const sent: string[] = [];
  const recorded: string[] = [];
  const state = { outcome: { result: 'delivered' } as Outcome, isBusy: false, failure: undefined as unknown };
  const announcer = new Announcer({
    view,
    clock,
    timeOfDay: clock,
    random: () => 1,
    shard: wholeShard,
    log: createLogger({ name: 'test', level: 'silent' }),
    metrics: { announced: () => undefined },
    deliver: async ({ headers }) => {
      sent.push(String(headers['ce-id']).replace('uid-', ''));
      return state.outcome;
    },
    record: async ({ metadata }, announced) => {
      if (state.failure !== undefined) throw state.failure;
      recorded.push(`${metadata.name} ${announced}`);
    },
    isBusy: () => state.isBusy,
  });
  if (isListed) announcer.synced();
  const known = new Map<string, Observed>();
  const observe = (object: object) => {
    const after = object as Observed;
    const { uid = '' } = after.metadata;
    const before = known.get(uid);
    known.set(uid, after);
    view.put(after);
    announcer.change(changeOf(before, after) as Change);
  };
  const remove = (object: object) => {
    const before = object as Observed;
    view.remove(before);
    announcer.change(changeOf(before, undefined) as Change);
  };
  return { announcer, clock, state, sent, recorded, observe, remove };
}

/** Lets the promise chains of deliveries run to their end. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

const endId = expect.stringMatching(/^order\/1\/.*\/completed$/);

describe('the announcer', () => {
  it('sends the milestones of an Order and its artifacts in their order, each once, and records them', async () => {
    const { announcer, clock, sent, recorded, observe } = setUp();
    observe(accepted);
    observe(running);
    observe(running);
    observe(succeeded);
    observe(completed);
    await settle();
    const name = succeeded.metadata.name;
    expect(sent).toEqual(['order/1/accepted', `${name}/1/started`, `${name}/1/succeeded`, endId]);
    expect(announcer.pending).toBe(0);
    expect(recorded).toEqual([]);
    clock.advance(2_000);
    await settle();
    expect(recorded.toSorted()).toEqual([
      expect.stringMatching(/^order 1\/.*\/completed$/),
      `${name} 1/succeeded`,
    ]);
    expect(announcer.unrecorded).toBe(2);
    for (const [index, object] of [completed, succeeded].entries())
      observe({
        ...object,
        status: { ...object.status, announced: recorded[index]?.split(' ')[1] },
      });
    await settle();
    expect(announcer.unrecorded).toBe(0);
    expect(sent).toHaveLength(4);
  });

  it('sends what a status shows that a former process has not announced', async () => {
    const { announcer, sent, observe } = setUp({ isListed: false });
    observe({ ...completed, status: { ...completed.status, announced: '1/accepted' } });
    observe({ ...succeeded, status: { ...succeeded.status, announced: '1/succeeded' } });
    await settle();
    expect(sent).toEqual([]);
    announcer.synced();
    await settle();
    expect(sent).toEqual([endId]);
  });

  it('sends nothing of a status that does not say what was announced: an earlier version told of it', async () => {
    const { sent, observe } = setUp();
    const { announced: _announced, ...status } = completed.status ?? {};
    observe({ ...completed, status });
    await settle();
    expect(sent).toEqual([]);
  });

  it('sends the end of an Order after that of its artifacts, whichever is seen first', async () => {
    const { sent, observe } = setUp();
    observe(running);
    observe(completed);
    await settle();
    const name = running.metadata.name;
    expect(sent).toEqual([`${name}/1/started`, 'order/1/accepted']);
    observe(succeeded);
    await settle();
    expect(sent.slice(2)).toEqual([`${name}/1/succeeded`, endId]);
  });

  it('tells of the failure of an Order though an artifact of it waits for a person, and has no end', async () => {
    const { sent, observe } = setUp();
    observe(child({ announced: '', phase: 'Pending', waitReason: 'NamespaceNotGiven' }));
    const entry = { artifactIndex: 0, phase: 'Invalid', reason: 'NamespaceNotGiven' };
    observe(orderWith({ ...completed.status, phase: 'Failed', artifactWorkflows: { [key]: entry } }));
    await settle();
    expect(sent).toEqual(['order/1/accepted', expect.stringMatching(/^order\/1\/.*\/failed$/)]);
  });

  it('records again what another write has overtaken', async () => {
    const { clock, state, recorded, observe } = setUp();
    observe(completed);
    await settle();
    state.failure = new ArcError('Conflict', 'the object has been modified');
    clock.advance(2_000);
    await settle();
    state.failure = undefined;
    clock.advance(2_000);
    await settle();
    expect(recorded).toEqual([expect.stringMatching(/completed$/)]);
  });

  it('does not wait any longer with the end of an Order that has gone on, or is gone', async () => {
    const { sent, observe, remove } = setUp();
    observe(running);
    observe(completed);
    observe({ ...accepted, status: { ...accepted.status, phase: 'Running' } });
    observe(completed);
    remove(completed);
    await settle();
    expect(sent.slice(1)).toEqual(['order/1/accepted', endId]);
  });

  it('tries again with the same id, and keeps what comes meanwhile in order', async () => {
    const { announcer, clock, state, sent, observe } = setUp();
    state.outcome = transient;
    observe(accepted);
    await settle();
    observe({
      ...accepted,
      metadata: { ...accepted.metadata, generation: 2 },
      status: { ...completed.status },
    });
    await settle();
    expect(announcer.pending).toBe(2);
    state.outcome = { result: 'delivered' };
    clock.advance(60_000);
    await settle();
    expect(sent).toEqual(['order/1/accepted', 'order/1/accepted', endId]);
  });

  it('sends what has happened to an object that is gone meanwhile, and records nothing', async () => {
    const { clock, state, sent, recorded, observe, remove } = setUp();
    state.outcome = transient;
    observe(accepted);
    await settle();
    remove(accepted);
    state.outcome = { result: 'delivered' };
    clock.advance(60_000);
    await settle();
    clock.advance(60_000);
    await settle();
    expect(sent).toEqual(['order/1/accepted', 'order/1/accepted']);
    expect(recorded).toEqual([]);
  });

  it('records after functions have written, and tries again when that fails', async () => {
    const { clock, state, recorded, observe } = setUp();
    state.isBusy = true;
    observe(completed);
    await settle();
    clock.advance(4_000);
    await settle();
    expect(recorded).toEqual([]);
    state.isBusy = false;
    state.failure = new Error('away');
    clock.advance(2_000);
    await settle();
    state.failure = undefined;
    clock.advance(30_000);
    await settle();
    expect(recorded).toEqual([expect.stringMatching(/completed$/)]);
  });

  it('says nothing while domain events are switched off, and all that is left when they are on again', async () => {
    const { sent, observe, remove } = setUp();
    const settings = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: settingsName, namespace: 'arc-system', uid: 'uid-settings' },
      data: { 'features.domainEvents': 'off' },
    };
    observe(settings);
    observe(completed);
    await settle();
    expect(sent).toEqual([]);
    remove(settings);
    await settle();
    expect(sent).toEqual(['order/1/accepted', endId]);
  });
});
