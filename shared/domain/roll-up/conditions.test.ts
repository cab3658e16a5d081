import { describe, expect, it } from 'vitest';
import type { OrderPhase } from '../kinds/phases.ts';

import { now } from '../testing/plan-objects.ts';
import { conditionsFor } from './conditions.ts';

const state = (phase: OrderPhase) => ({ phase, reason: phase, message: '' });

/** What kstatus makes of conditions (cli-utils, pkg/kstatus/status/core.go). */
function kstatus(phase: OrderPhase): string {
  const found = conditionsFor(state(phase), 1, [], now);
  const is = (type: string) => found.find((one) => one.type === type)?.status === 'True';
  if (is('Reconciling')) return 'InProgress';
  if (is('Stalled')) return 'Failed';
  return is('Ready') ? 'CurrentVersion' : 'InProgress';
}

describe('conditionsFor', () => {
  it.each<[OrderPhase, string]>([
    ['Pending', 'InProgress'],
    ['Running', 'InProgress'],
    ['Succeeded', 'CurrentVersion'],
    ['Failed', 'Failed'],
    ['Suspended', 'InProgress'],
    ['Cancelled', 'InProgress'],
    ['Scheduled', 'CurrentVersion'],
  ])('reads %s as %s', (phase, expected) => expect(kstatus(phase)).toBe(expected));

  it.each<[OrderPhase, string[]]>([
    ['Running', ['Reconciling']],
    ['Failed', ['Stalled']],
    ['Cancelled', ['Ready']],
    ['Succeeded', []],
  ])('has the message of %s in one condition, if all is not well', (phase, expected) => {
    const found = conditionsFor({ phase, reason: phase, message: 'why' }, 1, [], now);
    expect(found.flatMap(({ type, message }) => (message === 'why' ? [type] : []))).toEqual(expected);
  });

  it('speaks about one generation', () => {
    for (const one of conditionsFor(state('Running'), 7, [], now)) expect(one.observedGeneration).toBe(7);
    for (const one of conditionsFor(state('Running'), undefined, [], now)) {
      expect(one).not.toHaveProperty('observedGeneration');
    }
  });
});
