import { describe, expect, it } from 'vitest';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import type { Order } from '../kinds/order.ts';
import { annotations } from '../kinds/well-known.ts';
import { orderMilestones } from '../roll-up/milestones.ts';
import { rollUp } from '../roll-up/rollup.ts';
import { broken, done, image, inputs, now, order, stored } from '../testing/plan-objects.ts';
import { decideChildren } from './children.ts';
import { planOrder } from './plan.ts';

const [a, b] = [image('a'), image('b')];
const end = { phase: 'Cancelled' as const, message: 'cancelled', completionTime: '2026-01-02T03:00:00Z' };

function childrenOf(of: Order, statuses: ReadonlyArray<ArtifactWorkflow['status'] | undefined>) {
  return planOrder(of, inputs()).artifacts.flatMap((one, index) =>
    one.state === 'ready' && statuses[index] ? [stored(one.workflow, statuses[index])] : [],
  );
}

const decide = (of: Order, existing: ArtifactWorkflow[], given = inputs()) =>
  decideChildren(of, planOrder(of, given), existing);
const roll = (of: Order, existing: ArtifactWorkflow[]) => rollUp(of, planOrder(of, inputs()), existing, now);

function patched(workflow: ArtifactWorkflow): ArtifactWorkflow {
  return {
    ...workflow,
    metadata: { ...workflow.metadata, annotations: { [annotations.orderCancel]: 'true' } },
    spec: { ...workflow.spec, cancel: true },
  };
}

const cancelPatch = {
  spec: { cancel: true },
  metadata: { annotations: { [annotations.orderCancel]: 'true' } },
};
const takenBack = { spec: { cancel: null }, metadata: { annotations: { [annotations.orderCancel]: null } } };

describe('the children of a cancelled Order', () => {
  it('are told, those of one artifact or all, and none is created', () => {
    const of = order([a, b]);
    const existing = childrenOf(of, [{ phase: 'Running' }, undefined]);
    const all = order([a, b], { cancel: true });
    expect(decide(all, existing)).toMatchObject({ create: [], patches: [{ patch: cancelPatch }] });
    const only = order([a, { ...b, cancel: true }]);
    expect(decide(only, existing)).toMatchObject({ create: [], patches: [] });
    expect(decide(order([{ ...a, cancel: true }, b]), existing)).toMatchObject({
      create: [{ spec: { artifact: { name: 'b' } } }],
      patches: [{ patch: cancelPatch }],
    });
  });

  it('are told once, and again when that is taken back', () => {
    const existing = childrenOf(order([a]), [end]).map(patched);
    expect(decide(order([a], { cancel: true }), existing).patches).toEqual([]);
    expect(decide(order([a]), existing).patches).toMatchObject([{ patch: takenBack }]);
  });

  it('are told although an Endpoint has gone meanwhile', () => {
    const existing = childrenOf(order([a]), [{ phase: 'Running' }]);
    const none = inputs({ endpoints: [] });
    expect(decide(order([a], { cancel: true }), existing, none).patches).toMatchObject([
      { patch: cancelPatch },
    ]);
    expect(decide(order([a]), existing, none).patches).toEqual([]);
  });

  it('keep a cancel of their own until it is taken back there, or by a retry of the Order', () => {
    const [child] = childrenOf(order([a]), [end]);
    if (!child) throw new Error('nothing planned');
    const own = { ...child, spec: { ...child.spec, cancel: true } };
    expect(decide(order([a]), [own]).patches).toEqual([]);
    expect(decide(order([a], { cancel: true }), [own]).patches).toEqual([]);
    const retried = order([a]);
    retried.metadata.annotations = { [annotations.retryAt]: String(now.getTime() / 1000) };
    expect(decide(retried, [own]).patches).toMatchObject([{ patch: { spec: { cancel: null } } }]);
    const both = decide({ ...retried, spec: { ...retried.spec, cancel: true } }, [patched(child)]);
    const notes = { ...retried.metadata.annotations, [annotations.cause]: 'retry-at was set' };
    expect(both.patches.map(({ patch }) => patch)).toEqual([{ metadata: { annotations: notes } }]);
  });

  it('are made once it is taken back, one that was deleted meanwhile too', () => {
    const of = order([a], { cancel: true });
    const status = roll(of, childrenOf(of, [end]).map(patched));
    expect(decide({ ...of, status }, []).create).toEqual([]);
    expect(decide({ ...order([a]), status }, []).create).toHaveLength(1);
  });
});

describe('the status of an Order that is cancelled', () => {
  const states = (of: Order, statuses: Array<ArtifactWorkflow['status'] | undefined>) => {
    const existing = childrenOf(of, statuses);
    const told = of.spec.cancel === true ? existing.map(patched) : existing;
    const { phase, counts, message } = roll(of, told);
    return { phase, cancelled: counts?.cancelled, message };
  };

  it.each<[string, Order, Array<ArtifactWorkflow['status'] | undefined>, string, number]>([
    ['nothing made yet', order([a, b], { cancel: true }), [], 'Cancelled', 2],
    ['one still stopping', order([a, b], { cancel: true }), [{ phase: 'Running' }, end], 'Running', 1],
    ['all stopped', order([a, b], { cancel: true }), [end, end], 'Cancelled', 2],
    ['some done', order([a, b], { cancel: true }), [done, end], 'Cancelled', 1],
    ['all done before', order([a, b], { cancel: true }), [done, done], 'Succeeded', 0],
    ['all ended before', order([a, b], { cancel: true }), [done, broken], 'Failed', 0],
    ['a failure before', order([a, b], { cancel: true }), [broken, end], 'Cancelled', 1],
    ['a suspension too', order([a], { cancel: true, suspend: true }), [end], 'Cancelled', 1],
    ['one of two artifacts', order([{ ...a, cancel: true }, b]), [undefined, done], 'Cancelled', 1],
    ['one, and one failed', order([{ ...a, cancel: true }, b]), [undefined, broken], 'Failed', 1],
    ['one, and one under way', order([{ ...a, cancel: true }, b]), [], 'Pending', 1],
    [
      'a retry that is yet to be given up',
      order([a], { cancel: true, retry: { limit: 3 } }),
      [broken],
      'Pending',
      0,
    ],
    ['an artifact that is not valid', order([{ type: 'tape' }], { cancel: true }), [], 'Cancelled', 1],
  ])('with %s', (_, of, statuses, phase, cancelled) => {
    expect(states(of, statuses)).toMatchObject({ phase, cancelled });
  });

  it('is not Ready, not Reconciling and not Stalled, settled, and no event but that it was accepted', () => {
    const of = order([a], { cancel: true });
    const status = roll(of, []);
    expect(status).toMatchObject({
      message: '0 of 1 succeeded, 1 cancelled; nothing more runs until the cancel is taken back',
    });
    expect(status).not.toHaveProperty('completionTime');
    expect(status.conditions?.map((one) => `${one.type} ${one.status} ${one.reason}`)).toEqual([
      'Ready False Cancelled',
      'Reconciling False Cancelled',
      'Stalled False Cancelled',
    ]);
    const rolled = { ...of, status };
    expect(orderMilestones(rolled, now, '').map(({ name }) => name)).toEqual(['accepted']);
    expect(orderMilestones(rolled, now, '1/accepted')).toEqual([]);
  });
});
