import { describe, expect, it } from 'vitest';
import type { Workflow } from '../kinds/argo.ts';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import type { Order } from '../kinds/order.ts';
import { annotations } from '../kinds/well-known.ts';
import { planOrder } from '../plan/plan.ts';
import { rollUp } from '../roll-up/rollup.ts';
import { workflowFor } from '../submission/workflow.ts';
import { syncedStatus } from '../sync/status.ts';
import { image, inputs, made, now, order } from '../testing/plan-objects.ts';
import { isInStep, isOrderInStep } from './in-step.ts';

const plain = order([image('a')]);
const asked = { ...plain, metadata: { ...plain.metadata, generation: 1 } };
const submitted = made(asked, {
  configSecret: { name: 'c' },
  workflowRef: { kind: 'Workflow', name: `${made(asked).metadata.name}-1`, attempt: 1 },
});
const { name } = submitted.status?.workflowRef ?? { name: '' };
const bare = workflowFor(submitted, 1);
const argo: Workflow = {
  ...bare,
  metadata: { ...bare.metadata, name },
  status: { phase: 'Running', startedAt: '2026-01-02T03:04:00Z', progress: '0/1' },
};
const running: ArtifactWorkflow = {
  ...submitted,
  status: { ...submitted.status, ...(syncedStatus(submitted, argo, now) as ArtifactWorkflow['status']) },
};
const released: Order = { ...asked, status: rollUp(asked, planOrder(asked, inputs()), [running], now) };

const withStatus = (more: ArtifactWorkflow['status']) => ({
  ...running,
  status: { ...running.status, ...more },
});
const edited = <T extends ArtifactWorkflow | Order>(one: T, metadata: object): T => ({
  ...one,
  metadata: { ...one.metadata, ...metadata },
});

describe('an ArtifactWorkflow', () => {
  it('that shows what its Workflow does waits for no function', () => {
    expect(running.status?.phase).toBe('Running');
    expect(isInStep(running, argo, new Date(now.getTime() + 3_600_000))).toBe(true);
  });

  it.each<[string, ArtifactWorkflow, Workflow | undefined]>([
    ['whose Workflow was not seen', running, undefined],
    ['whose Workflow got further', running, { ...argo, status: { ...argo.status, progress: '1/2' } }],
    ['whose Workflow ended', running, { ...argo, status: { ...argo.status, phase: 'Succeeded' } }],
    ['whose Workflow was not seen by Argo', running, { ...argo, status: {} }],
    ['that has no Workflow', submitted, argo],
    ['that is cancelled', { ...running, spec: { ...running.spec, cancel: true } }, argo],
    ['that is to be deleted', edited(running, { deletionTimestamp: now.toISOString() }), argo],
    ['that was edited', edited(running, { generation: 2 }), argo],
    ['that has another attempt', withStatus({ workflowRef: { kind: 'Workflow', name, attempt: 2 } }), argo],
  ])('%s does', (_, workflow, seen) => {
    expect(isInStep(workflow, seen, now)).toBe(false);
  });
});

describe('an Order', () => {
  it('that shows how its artifacts run waits for no function', () => {
    expect(released.status?.phase).toBe('Running');
    expect(isOrderInStep(released, [running])).toBe(true);
  });

  it.each<[string, Order, ArtifactWorkflow[]]>([
    ['whose artifact has ended', released, [withStatus({ phase: 'Succeeded' })]],
    ['whose artifact is gone', released, []],
    ['with a version too many', released, [running, edited(running, { name: 'other' })]],
    ['whose artifact is to go', released, [edited(running, { deletionTimestamp: now.toISOString() })]],
    ['that was edited', edited(released, { generation: 2 }), [running]],
    [
      'that was forced',
      edited(released, { annotations: { [annotations.forceAt]: '1767323000' } }),
      [running],
    ],
    ['that is to be deleted', edited(released, { deletionTimestamp: now.toISOString() }), [running]],
    ['that has no status', asked, [running]],
  ])('%s does', (_, one, children) => {
    expect(isOrderInStep(one, children)).toBe(false);
  });
});
