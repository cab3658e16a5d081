import { describe, expect, it } from 'vitest';
import type { ArtifactWorkflow, ArtifactWorkflowStatus } from '../kinds/artifact-workflow.ts';
import type { Order } from '../kinds/order.ts';
import { planOrder } from '../plan/plan.ts';
import { rollUp } from '../roll-up/rollup.ts';
import { done, image, inputs, now, order, stored } from '../testing/plan-objects.ts';
import { isEndRecorded, isOverwritten } from './record.ts';

const one = order([image('a')]);
const plan = planOrder(one, inputs());

function made(status: ArtifactWorkflowStatus = done, revision = 1): ArtifactWorkflow {
  const [planned] = plan.artifacts;
  if (planned?.state !== 'ready') throw new Error('not ready');
  const workflow = stored(planned.workflow, status);
  return { ...workflow, spec: { ...workflow.spec, revision } };
}

/** The Order as roll-up-order leaves it when it has seen `child`. */
function seen(child: ArtifactWorkflow, of: Order = one): Order {
  return { ...of, status: rollUp(of, plan, [child], now) };
}

describe('isEndRecorded', () => {
  it('is false until the roll-up has seen this very end', () => {
    expect(isEndRecorded(made(), one)).toBe(false);
    expect(isEndRecorded(made(), seen(made({ phase: 'Running' })))).toBe(false);
    expect(isEndRecorded(made(), seen(made({ ...done, completionTime: '2020-01-01T00:00:00Z' })))).toBe(
      false,
    );
    expect(isEndRecorded(made(), seen(made()))).toBe(true);
  });

  it('is true where the status, in the present generation, does not list the version', () => {
    const without = { ...seen(made()).status, artifactWorkflows: {} };
    expect(isEndRecorded(made(), { ...one, status: without })).toBe(true);
    const edited = { ...one, status: without, metadata: { ...one.metadata, generation: 99 } };
    expect(isEndRecorded(made(), edited)).toBe(false);
  });

  it('is true where no Order would run it again, or where it is to run again', () => {
    expect(isEndRecorded(made(), undefined)).toBe(true);
    const deletionTimestamp = now.toISOString();
    expect(isEndRecorded(made(), { ...one, metadata: { ...one.metadata, deletionTimestamp } })).toBe(true);
    expect(isEndRecorded(made({ phase: 'Running' }), one)).toBe(true);
    expect(isEndRecorded(made({ phase: 'Stopped' }), one)).toBe(true);
    const cancelled = made({ ...done, phase: 'Cancelled' });
    cancelled.spec.cancel = true;
    expect(isEndRecorded(cancelled, seen(cancelled))).toBe(true);
  });
});

describe('isOverwritten', () => {
  it('is true beside a later version only', () => {
    expect(isOverwritten(made(), [made()])).toBe(false);
    expect(isOverwritten(made(done, 2), [made(done, 1)])).toBe(false);
    expect(isOverwritten(made(done, 1), [made(done, 2)])).toBe(true);
  });
});
