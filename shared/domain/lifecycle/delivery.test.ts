import { describe, expect, it } from 'vitest';
import type { Order } from '../kinds/order.ts';
import { planOrder } from '../plan/plan.ts';
import { endpointConditions } from '../probe/conditions.ts';
import { rollUp } from '../roll-up/rollup.ts';
import { syncedStatus } from '../sync/status.ts';
import { artifactWorkflow, endpoint, workflowOf } from '../testing/objects.ts';
import { broken, done, image, inputs, now, order, stored } from '../testing/plan-objects.ts';
import { deliveryOf, undelivered } from './delivery.ts';

const refused = 'function decompose-order failed every delivery';

const later = (minutes: number) => new Date(now.getTime() + minutes * 60_000);

/** The object after a dead letter. */
function hit<T extends Parameters<typeof undelivered>[0]>(object: T, at = now): T {
  return { ...object, status: { ...object.status, conditions: undelivered(object, refused, at) } };
}

function rolledUp(of: Order, status: Parameters<typeof stored>[1], at = now) {
  const plan = planOrder(of, inputs());
  const [artifact] = plan.artifacts;
  if (artifact?.state !== 'ready') throw new Error('it is ready');
  return { ...of, status: rollUp(of, plan, [stored(artifact.workflow, status)], at) };
}

describe('the condition Delivered of an Order', () => {
  const one = order([image('a')]);

  it('stays while it is under way, however often it is rolled up, and costs no write', () => {
    const under = hit(rolledUp(one, { phase: 'Running' }));
    const again = rolledUp(under, { phase: 'Running' });
    expect(again.status).toEqual(under.status);
    expect(deliveryOf(again.status.conditions)).toMatchObject({ status: 'False', message: refused });
  });

  it.each([
    ['succeeded', done],
    ['failed', broken],
  ])('goes when it has %s', (_, status) => {
    const ended = rolledUp(hit(rolledUp(one, { phase: 'Running' })), status, later(5));
    expect(deliveryOf(ended.status.conditions)).toBeUndefined();
    expect(ended.status.conditions).toHaveLength(3);
  });

  it('stays while a wake is refused again and again, though all else has settled', () => {
    let object = rolledUp(one, done);
    for (let minute = 0; minute < 30; minute += 1.5) {
      object = hit(object, later(minute));
      // Looks that succeed come between the letters.
      object = rolledUp(object, done, later(minute + 0.7));
      expect(deliveryOf(object.status.conditions)).toBeDefined();
    }
    expect(deliveryOf(rolledUp(object, done, later(34)).status.conditions)).toBeUndefined();
  });

  it('of one that had settled before goes with a look five minutes later', () => {
    const settled = rolledUp(one, done);
    const letter = hit(settled);
    expect(rolledUp(letter, done, later(4.9)).status).toEqual(letter.status);
    expect(rolledUp(letter, done, later(5)).status).toEqual(settled.status);
  });
});

describe('the condition Delivered of an ArtifactWorkflow', () => {
  const name = 'one-0123456789abcdef';
  const submitted = artifactWorkflow(name, {
    status: { attempts: 1, workflowRef: { kind: 'Workflow', name, attempt: 1 } },
  });
  const seen = (workflow: typeof submitted, phase: 'Running' | 'Succeeded', at = later(5)) =>
    syncedStatus(workflow, workflowOf(workflow, name, { phase }), at);

  it('stays while it runs, beside the others', () => {
    const patch = seen(hit(submitted), 'Running');
    expect(patch?.conditions?.map(({ type }) => type)).toEqual([
      'Ready',
      'Reconciling',
      'Stalled',
      'Delivered',
    ]);
    const running = { ...submitted, status: { ...submitted.status, ...patch } } as typeof submitted;
    expect(seen(running, 'Running')).toBeUndefined();
  });

  it('goes when it has succeeded, and when it had already', () => {
    const patch = seen(hit(submitted), 'Succeeded');
    expect(patch?.conditions?.map(({ type }) => type)).toEqual(['Ready', 'Reconciling', 'Stalled']);
    const finished = { ...submitted, status: { ...submitted.status, ...patch } } as typeof submitted;
    expect(seen(finished, 'Succeeded')).toBeUndefined();
    expect(seen(hit(finished), 'Succeeded')).toEqual({ conditions: finished.status?.conditions });
    expect(seen(hit(finished), 'Succeeded', now)).toBeUndefined();
    expect(syncedStatus(hit(finished), undefined, later(5))).toEqual({
      conditions: finished.status?.conditions,
    });
  });
});

it('the condition Delivered of an Endpoint goes with a probe', () => {
  const fine = { status: 'True', reason: 'Valid', message: '' } as const;
  const findings = { validated: fine, reachable: fine, authenticated: fine };
  expect(deliveryOf(endpointConditions(hit(endpoint('one')), findings, now))).toBeUndefined();
});

it('a long answer is cut to what a condition holds', () => {
  const [condition] = undelivered(order([]), 'x'.repeat(10_000), now);
  expect(condition?.message.length).toBeLessThanOrEqual(256);
});
