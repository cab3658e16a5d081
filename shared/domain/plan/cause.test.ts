import { describe, expect, it } from 'vitest';
import type { Artifact, Order } from '../kinds/order.ts';
import { annotations } from '../kinds/well-known.ts';
import { artifactType, endpoint } from '../testing/objects.ts';
import { broken, done, image, inputs, order, stored } from '../testing/plan-objects.ts';
import { type Rerun, rerunsIn } from './cause.ts';
import { decideChildren } from './children.ts';
import { type PlanInputs, planOrder } from './plan.ts';

const secretRef = { name: 'login' };
const before = order([image('a'), image('b')]);

/** What runs again after these changes of an Order of two artifacts that have ended. */
function reruns(after: Order, given: PlanInputs, status = done): Rerun[] {
  const existing = planOrder(before, inputs()).artifacts.flatMap((one) =>
    one.state === 'ready' ? [stored(one.workflow, status)] : [],
  );
  return rerunsIn(decideChildren(after, planOrder(after, given), existing));
}

const annotated = (name: string) => ({
  ...before,
  metadata: { ...before.metadata, annotations: { [name]: '1800000000' } },
});

describe('rerunsIn', () => {
  const from = endpoint('from', { secretRef }, { secretGeneration: 1 });
  const edited: Artifact = { ...image('a'), spec: { image: 'a:2.0', override: 'a:1.0' } };
  const cases: [string, string, number, Order, PlanInputs?][] = [
    ['a force', 'force-at was set', 2, annotated(annotations.forceAt)],
    ['an edit', 'it was edited', 1, order([edited, image('b')])],
    [
      'a schedule',
      'its schedule changed',
      1,
      order([{ ...image('a'), cron: { schedules: ['@daily'] } }, image('b')]),
    ],
    [
      'a wish to verify',
      'spec.verify changed',
      2,
      order([image('a'), image('b')], { verify: 'Always', onChange: 'Keep' }),
    ],
    [
      'an Endpoint',
      'Endpoint "to" changed',
      2,
      before,
      inputs({ endpoints: [from, endpoint('to', { tls: { plainHTTP: true } })] }),
    ],
    [
      'credentials',
      'the credentials of Endpoint "from" changed',
      2,
      before,
      inputs({ endpoints: [endpoint('from', { secretRef }, { secretGeneration: 2 }), endpoint('to')] }),
    ],
    [
      'a type',
      'artifact type "oci" changed',
      2,
      before,
      inputs({ types: [artifactType('oci', { parameters: [{ name: 'color', value: 'blue' }] })] }),
    ],
  ];

  it.each(cases)('names %s, once for all artifacts', (_, cause, artifacts, after, given = inputs()) => {
    expect(reruns(after, given)).toEqual([{ cause, artifacts }]);
  });

  it('names a retry of what has failed', () => {
    const retried = annotated(annotations.retryAt);
    expect(reruns(retried, inputs(), broken)).toEqual([{ cause: 'retry-at was set', artifacts: 2 }]);
    expect(reruns(retried, inputs(), done)).toEqual([]);
  });

  it('has none for what runs for the first time, and what is as it was', () => {
    expect(rerunsIn(decideChildren(before, planOrder(before, inputs()), []))).toEqual([]);
    expect(reruns(before, inputs())).toEqual([]);
  });
});
