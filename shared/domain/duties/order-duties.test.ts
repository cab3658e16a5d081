import { describe, expect, it } from 'vitest';
import { annotations, finalizers } from '../kinds/well-known.ts';
import type { HoldReason } from '../lifecycle/holds.ts';
import { planOrder } from '../plan/plan.ts';
import { endpoint, ociType, order } from '../testing/objects.ts';
import { orderDuties } from './order-duties.ts';
import type { View } from './view.ts';

const now = new Date('2026-01-02T03:04:05Z');

describe('an Order whose ArtifactWorkflows the API refuses to create', () => {
  const lookOf = (reason: HoldReason) => {
    const one = order('order', ['a:1']);
    const plan = planOrder(one, {
      endpoints: [endpoint('source'), endpoint('destination')],
      types: [ociType()],
    });
    const note = { [plan.artifacts[0]?.key ?? '']: { reason, message: 'refused' } };
    const metadata = { ...one.metadata, finalizers: [finalizers.children] };
    const noted = { ...metadata, annotations: { [annotations.refused]: JSON.stringify(note) } };
    const view: Partial<View> = {
      settings: {},
      childrenOf: () => [],
      planOf: () => plan,
      hasUnfinished: () => true,
    };
    const duties = orderDuties(view as View, { ...one, metadata: noted }, now);
    return duties.flatMap((duty) => (duty.step === 'decompose' && 'look' in duty ? [duty.look] : []));
  };

  it('is tried again every hour in the end, and every minute where a quota refuses them', () => {
    expect(lookOf('CreationFailed')).toEqual([{ first: 3_000, longest: 3_600_000 }]);
    expect(lookOf('QuotaExceeded')).toEqual([{ first: 3_000, longest: 60_000 }]);
  });
});
