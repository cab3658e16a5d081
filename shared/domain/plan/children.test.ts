import { describe, expect, it } from 'vitest';
import { fc } from '#shared/testing';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import type { OnChange, Order } from '../kinds/order.ts';
import { annotations, finalizers } from '../kinds/well-known.ts';
import { rollUp } from '../roll-up/rollup.ts';
import { endpoint } from '../testing/objects.ts';
import { broken, done, image, inputs, now, order, stored } from '../testing/plan-objects.ts';
import { decideChildren } from './children.ts';
import { type PlanInputs, planOrder } from './plan.ts';

function turned(count: number): PlanInputs {
  const from = endpoint('from', { secretRef: { name: 'login' } }, { secretGeneration: count });
  return inputs({ endpoints: [from, endpoint('to')] });
}

function decide(of: Order, given: PlanInputs, existing: ArtifactWorkflow[]) {
  return decideChildren(of, planOrder(of, given), existing);
}

function planned(of: Order, given: PlanInputs = inputs()): ArtifactWorkflow[] {
  return planOrder(of, given).artifacts.flatMap((one) => (one.state === 'ready' ? [one.workflow] : []));
}

function first(of: Order, given: PlanInputs = inputs()): ArtifactWorkflow {
  const [workflow] = planned(of, given);
  if (!workflow) throw new Error('nothing planned');
  return workflow;
}

const names = (list: ArtifactWorkflow[]) => list.map(({ metadata }) => metadata.name);
const one = order([image('a')]);

describe('decideChildren', () => {
  it('creates what is planned, after the finalizer is on', () => {
    const bare = { ...one, metadata: { ...one.metadata, finalizers: [] } };
    expect(decide(bare, inputs(), [])).toMatchObject({ finalizer: 'add', create: planned(one) });
    expect(decide(one, inputs(), [])).toMatchObject({ finalizer: 'keep', create: planned(one) });
  });

  it('has nothing left to do once its decision is carried out', () => {
    const artifacts = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 6 });
    fc.assert(
      fc.property(artifacts, artifacts, fc.boolean(), (before, after, finished) => {
        const old = planned(order(before.map((name) => ({ ...image(name) }))));
        const existing = old.map((workflow) => stored(workflow, finished ? done : {}));
        const wanted = order(after.map((name) => ({ ...image(name) })));
        const decision = decide(wanted, inputs(), existing);
        const gone = new Set(names([...decision.stop, ...decision.remove]));
        const created = decision.create.map((workflow) => stored(workflow));
        const next = [...existing.filter(({ metadata }) => !gone.has(metadata.name)), ...created];
        expect(decide(wanted, inputs(), next)).toEqual({
          finalizer: 'keep',
          create: [],
          stop: [],
          remove: [],
          patches: [],
        });
      }),
    );
  });

  const old = first(one, turned(1));
  const fresh = first(one, turned(2));
  const table: Array<[OnChange, string, ArtifactWorkflow['status'], string[], string[]]> = [
    ['Rerun', 'unfinished', {}, names([fresh]), names([old])],
    ['Rerun', 'succeeded', done, names([fresh]), []],
    ['Rerun', 'failed', broken, names([fresh]), []],
    ['RerunUnfinished', 'unfinished', {}, names([fresh]), names([old])],
    ['RerunUnfinished', 'succeeded', done, [], []],
    ['RerunUnfinished', 'failed', broken, names([fresh]), []],
    ['Keep', 'rendered', { configSecret: { name: 'rendered' } }, [], []],
    // The Endpoint that it was made for is gone for good: nothing could render it any more.
    ['Keep', 'not yet rendered', {}, names([fresh]), names([old])],
    ['Keep', 'succeeded', done, [], []],
    ['Keep', 'failed', broken, [], []],
  ];

  it.each(table)(
    'on a changed credential with %s and the old one %s',
    (onChange, _, status, create, stop) => {
      const wanted = order([image('a')], { onChange });
      const decision = decide(wanted, turned(2), [stored(old, status)]);
      expect(names(decision.create)).toEqual(create);
      expect(names(decision.stop)).toEqual(stop);
      expect(decision.remove).toEqual([]);
    },
  );

  it('obeys a force whatever onChange says', () => {
    const kept = order([image('a')], { onChange: 'Keep' });
    const forced = {
      ...kept,
      metadata: { ...kept.metadata, annotations: { [annotations.forceAt]: '1700000000' } },
    };
    expect(decide(forced, inputs(), [stored(old, done)]).create).toHaveLength(1);
  });

  it('leaves the versions of an artifact alone while its Endpoint is being looked at', () => {
    const from = { ...endpoint('from'), status: {} };
    const decision = decide(one, inputs({ endpoints: [from, endpoint('to')] }), [stored(first(one), {})]);
    expect(decision).toMatchObject({ create: [], stop: [], remove: [] });
  });

  it('stops what the Order no longer lists', () => {
    const both = planned(order([image('a'), image('b')])).map((workflow) => stored(workflow));
    expect(names(decide(one, inputs(), both).stop)).toEqual(names(both.slice(1)));
  });

  it('keeps three finished versions beside the one in force, the newest', () => {
    const versions = [1, 2, 3, 4, 5].map((count) => stored(first(one, turned(count)), done, count * 1000));
    const decision = decide(one, turned(6), [...versions].reverse());
    expect(names(decision.create)).toEqual(names([first(one, turned(6))]));
    expect(names(decision.remove).sort()).toEqual(names(versions.slice(0, 2)).sort());
  });

  it('does not make again what was removed after it had finished, and makes again what had not', () => {
    const child = stored(first(one), done);
    const seen = { ...one, status: rollUp(one, planOrder(one, inputs()), [child], now) };
    expect(decide(seen, inputs(), []).create).toEqual([]);
    const running = { ...one, status: rollUp(one, planOrder(one, inputs()), [stored(first(one))], now) };
    expect(decide(running, inputs(), []).create).toHaveLength(1);
  });

  it('does not create beside one that is being deleted', () => {
    const child = stored(first(one));
    const going = { ...child, metadata: { ...child.metadata, deletionTimestamp: now.toISOString() } };
    expect(decide(one, inputs(), [going])).toMatchObject({ create: [], stop: [] });
  });

  it('keeps the policy in step, removing what is no longer set', () => {
    const child = stored(first(order([image('a')], { retry: { limit: 2, backoff: '1s' }, suspend: true })));
    const [change] = decide(order([image('a')], { retry: { limit: 5 } }), inputs(), [child]).patches;
    expect(change?.patch).toEqual({ spec: { retry: { limit: 5, backoff: null }, suspend: null } });
  });

  it('runs again only what had failed by then', () => {
    const two = order([image('a'), image('b')]);
    const at = (seconds: number) => ({
      ...two,
      metadata: { ...two.metadata, annotations: { [annotations.retryAt]: String(seconds) } },
    });
    const [a, b] = planned(two);
    if (!a || !b) throw new Error('two are planned');
    const children = [stored(a, broken), stored(b, done)];
    const failedAt = Date.parse(broken.completionTime ?? '') / 1000;
    expect(decide(at(failedAt + 60), inputs(), children).patches.map(({ patch }) => patch)).toEqual([
      { metadata: { annotations: { [annotations.retryAt]: String(failedAt + 60) } } },
    ]);
    expect(decide(at(failedAt - 60), inputs(), children).patches).toEqual([]);
  });

  it('stops everything when the Order goes, and lets it go when nothing is left', () => {
    const going = { ...one, metadata: { ...one.metadata, deletionTimestamp: now.toISOString() } };
    const child = stored(first(one), done);
    expect(decide(going, inputs(), [child])).toMatchObject({ finalizer: 'keep', stop: [child], create: [] });
    expect(decide(going, { endpoints: [], types: [] }, [])).toMatchObject({
      finalizer: 'remove',
      create: [],
    });
    const free = { ...going, metadata: { ...going.metadata, finalizers: ['other'] } };
    expect(decide(free, inputs(), []).finalizer).toBe('keep');
    expect(going.metadata.finalizers).toContain(finalizers.children);
  });

  it('leaves everything alone when the Order is deleted with propagationPolicy Orphan', () => {
    const metadata = { ...one.metadata, deletionTimestamp: now.toISOString() };
    const orphaning = {
      ...one,
      metadata: { ...metadata, finalizers: [...(metadata.finalizers ?? []), 'orphan'] },
    };
    expect(decide(orphaning, inputs(), [stored(first(one), done)])).toEqual({
      finalizer: 'remove',
      create: [],
      stop: [],
      remove: [],
      patches: [],
    });
  });
});
