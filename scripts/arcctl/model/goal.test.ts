import { describe, expect, it } from 'vitest';
import type { Order } from '#shared/domain';
import { order } from '../../../shared/domain/testing/objects.ts';
import { parseGoal, verdictOf } from './goal.ts';
import { standingOf, trackUnfinishedOrders } from './standing.ts';

const ended = '2026-01-01T00:01:00Z';
const at = (text: string) => String(Date.parse(text) / 1000);

function orderIn(
  phase: string,
  over: { annotations?: Record<string, string>; status?: object; generation?: number } = {},
) {
  const base = order('order', ['a:1']);
  const { annotations = {}, status = {}, generation = 1 } = over;
  return {
    ...base,
    metadata: { ...base.metadata, annotations, generation },
    status: { phase, observedGeneration: 1, completionTime: ended, ...status },
  } as Order;
}

const forceAt = 'arc.opendefense.cloud/force-at';
const retryAt = 'arc.opendefense.cloud/retry-at';

describe('where an Order stands', () => {
  it.each([
    ['Pending', orderIn('Pending'), 'open'],
    ['Scheduled', orderIn('Scheduled'), 'open'],
    ['Succeeded', orderIn('Succeeded'), 'succeeded'],
    ['Failed', orderIn('Failed'), 'ended badly'],
    ['Cancelled', orderIn('Cancelled'), 'ended badly'],
    ['an end of an earlier spec', orderIn('Succeeded', { generation: 2 }), 'open'],
    ['an end before a force', orderIn('Succeeded', { annotations: { [forceAt]: at(ended) } }), 'open'],
    [
      'an end after a force',
      orderIn('Succeeded', { annotations: { [forceAt]: at(ended) }, status: { lastForceAt: ended } }),
      'succeeded',
    ],
    ['an end before a retry', orderIn('Failed', { annotations: { [retryAt]: at(ended) } }), 'open'],
    [
      'a failure after a retry',
      orderIn('Failed', { annotations: { [retryAt]: String(Number(at(ended)) - 1) } }),
      'ended badly',
    ],
    ['a success after a retry', orderIn('Succeeded', { annotations: { [retryAt]: at(ended) } }), 'succeeded'],
  ])('%s', (_, given, standing) => {
    expect(standingOf(given)).toBe(standing);
  });

  it('knows a failure in the very second of its retry for a new one, where it saw the Order without an end in between', () => {
    const failed = orderIn('Failed', { annotations: { [retryAt]: at(ended) } });
    const openings = trackUnfinishedOrders();
    openings.see(failed);
    expect(standingOf(failed, openings.has(failed))).toBe('open');
    openings.see({ ...failed, status: { phase: 'Running' } });
    expect(standingOf(failed, openings.has(failed))).toBe('ended badly');
  });
});

describe('what is waited for', () => {
  it('is read as kubectl writes it', () => {
    expect(parseGoal('phase=Succeeded')).toEqual({ type: 'phase', phase: 'Succeeded' });
    expect(parseGoal('condition=Ready')).toEqual({ type: 'condition', condition: 'Ready', status: 'True' });
    expect(parseGoal('condition=Ready=False')).toEqual({
      type: 'condition',
      condition: 'Ready',
      status: 'False',
    });
    expect(parseGoal('delete')).toEqual({ type: 'delete' });
    for (const text of ['', 'ready', 'phase=', 'phase=A=B', 'jsonpath={.a}'])
      expect(parseGoal(text)).toBeUndefined();
  });

  const succeeded = { type: 'phase', phase: 'succeeded' } as const;
  const ready = { type: 'condition', condition: 'Ready', status: 'True' } as const;
  const conditions = [{ type: 'Ready', status: 'True' }];
  it.each([
    ['a phase that it has', succeeded, orderIn('Succeeded'), 'met'],
    ['one that it cannot get any more', succeeded, orderIn('Failed'), 'never'],
    ['one that it may get', succeeded, orderIn('Running'), 'open'],
    ['a phase on the way', { type: 'phase', phase: 'Running' } as const, orderIn('Running'), 'met'],
    [
      'a success before a force',
      succeeded,
      orderIn('Succeeded', { annotations: { [forceAt]: at(ended) } }),
      'open',
    ],
    ['a condition', ready, orderIn('Succeeded', { status: { conditions } }), 'met'],
    [
      'a condition of an earlier spec',
      ready,
      orderIn('Succeeded', { status: { conditions }, generation: 2 }),
      'open',
    ],
    ['what is gone', { type: 'delete' } as const, undefined, 'met'],
    ['what is there', { type: 'delete' } as const, orderIn('Failed'), 'open'],
    ['a phase of what is not there', succeeded, undefined, 'never'],
  ])('%s', (_, goal, object, verdict) => {
    expect(verdictOf(goal, object)).toBe(verdict);
  });
});
