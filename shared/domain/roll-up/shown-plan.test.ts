import { describe, expect, it } from 'vitest';
import { fc } from '#shared/testing';
import type { ArtifactWorkflow, ArtifactWorkflowStatus } from '../kinds/artifact-workflow.ts';
import type { Order } from '../kinds/order.ts';
import { annotations } from '../kinds/well-known.ts';
import { planOrder } from '../plan/plan.ts';
import { broken, done, image, inputs, now, order, stored } from '../testing/plan-objects.ts';
import { rollUp } from './rollup.ts';
import { shownPlan } from './shown-plan.ts';

const later = new Date(now.getTime() + 60_000);
const seconds = (time: Date) => String(Math.floor(time.getTime() / 1000));

function children(of: Order, statuses: readonly ArtifactWorkflowStatus[]): ArtifactWorkflow[] {
  return planOrder(of, inputs()).artifacts.flatMap((one, index) =>
    one.state === 'ready' ? [stored(one.workflow, statuses[index])] : [],
  );
}

function rolled(of: Order, existing: readonly ArtifactWorkflow[]): Order {
  return { ...of, status: rollUp(of, planOrder(of, inputs()), existing, now) };
}

const statuses = fc.constantFrom<ArtifactWorkflowStatus>(
  {},
  { phase: 'Queued' },
  { phase: 'Running', progress: '1/2', startTime: '2026-01-02T03:04:00Z' },
  { phase: 'Cancelled' },
  done,
  broken,
);
const artifact = fc.record({ status: statuses, next: statuses, cancel: fc.boolean(), named: fc.boolean() });

describe('shownPlan', () => {
  it('leads to the status that a new plan of the same inputs leads to', () => {
    const artifacts = fc.array(artifact, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(artifacts, fc.boolean(), fc.integer({ min: 0, max: 5 }), (all, cancel, made) => {
        const asked = all.map((one, index) => {
          const { name, ...plain } = image(`a${index}`);
          return { ...plain, ...(one.named ? { name } : {}), ...(one.cancel ? { cancel: true } : {}) };
        });
        const of = order(asked, cancel ? { cancel } : {});
        const before = rolled(
          of,
          children(
            of,
            all.map(({ status }) => status),
          ).slice(0, made),
        );
        const existing = children(
          of,
          all.map(({ next }) => next),
        );
        const plan = shownPlan(before, existing);
        expect(plan).toBeDefined();
        expect(plan && rollUp(before, plan, existing, later)).toEqual(
          rollUp(before, planOrder(before, inputs()), existing, later),
        );
      }),
    );
  });

  const of = order([image('a'), image('b')]);
  const running = children(of, [{ phase: 'Running' }, { phase: 'Running' }]);
  const shown = rolled(of, running);
  const [first, second] = running as [ArtifactWorkflow, ArtifactWorkflow];
  const noted = (notes: Record<string, string>): Order => ({
    ...shown,
    metadata: { ...shown.metadata, annotations: notes },
  });
  const deletionTimestamp = '2026-01-02T03:05:00Z';
  const going = (one: ArtifactWorkflow) => ({ ...one, metadata: { ...one.metadata, deletionTimestamp } });
  const renamed = { ...second, metadata: { ...second.metadata, name: 'release-0123456789abcdef' } };
  const ended = rolled(of, children(of, [broken, done]));
  const retried = {
    ...ended,
    metadata: { ...ended.metadata, annotations: { [annotations.retryAt]: seconds(later) } },
  };

  it.each<[string, Order, ArtifactWorkflow[]]>([
    ['an Order without a status', of, running],
    ['an edited Order', { ...shown, metadata: { ...shown.metadata, generation: 2 } }, running],
    [
      'an Order that is being deleted',
      { ...shown, metadata: { ...shown.metadata, deletionTimestamp } },
      running,
    ],
    ['a force that is not answered', noted({ [annotations.forceAt]: seconds(now) }), running],
    ['a retry that is not answered', retried, children(of, [broken, done])],
    ['an artifact that has no ArtifactWorkflow', shown, [first]],
    ['a version that the status does not show', shown, [first, renamed]],
    ['more than one version of an artifact', shown, [...running, renamed]],
    ['one that is being deleted', shown, [first, going(second)]],
    ['an artifact that is held', rolled(order([image('a'), { type: 'tape' }]), [first]), [first]],
  ])('is not known of %s', (_what, one, existing) => {
    expect(shownPlan(one, existing)).toBeUndefined();
  });

  it('is that of the generations in the status, whatever the Endpoints are now', () => {
    const { endpointGenerations, secretGenerations } = shown.status ?? {};
    expect(shownPlan(shown, running)).toMatchObject({ endpointGenerations, secretGenerations });
    expect(endpointGenerations).toEqual({ from: 1, to: 1 });
  });
});
