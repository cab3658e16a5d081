import { describe, expect, it } from 'vitest';
import type { OrderStatus } from '#shared/domain';
import { transitions } from './transitions.ts';

function invalid(count: number): OrderStatus {
  const entries = Array.from({ length: count }, (_, artifactIndex) => [
    `index-${artifactIndex}`,
    { artifactIndex, phase: 'Invalid', message: 'no such type' },
  ]);
  return { phase: 'Running', artifactWorkflows: Object.fromEntries(entries) };
}

describe('transitions', () => {
  it('reports each invalid artifact once', () => {
    expect(transitions(undefined, invalid(2)).map(({ message }) => message)).toEqual([
      'artifact 0: no such type',
      'artifact 1: no such type',
    ]);
    expect(transitions(invalid(2), invalid(2))).toEqual([]);
    expect(transitions(invalid(1), invalid(2)).length).toBe(1);
  });

  it('summarises too many invalid artifacts in one Event', () => {
    const reported = transitions(undefined, invalid(100));
    expect(reported.length).toBe(6);
    expect(reported.at(-1)?.message).toContain('95 more artifacts are invalid');
  });

  it('reports no end of an Order without artifacts, and the end once it has some', () => {
    const counts = { total: 0, invalid: 0, pending: 0, running: 0, succeeded: 0, failed: 0, cancelled: 0 };
    const empty: OrderStatus = { phase: 'Succeeded', message: 'the Order lists no artifacts', counts };
    const done: OrderStatus = { ...empty, counts: { ...counts, total: 1, succeeded: 1 } };
    expect(transitions(undefined, empty)).toEqual([]);
    expect(transitions(done, empty)).toEqual([]);
    expect(transitions(empty, done)).toMatchObject([{ reason: 'Completed' }]);
  });

  it('reports the end of the Order once', () => {
    const done: OrderStatus = { phase: 'Succeeded', message: '2 of 2 succeeded' };
    expect(transitions({ phase: 'Running' }, done)).toEqual([
      { type: 'Normal', reason: 'Completed', message: '2 of 2 succeeded' },
    ]);
    expect(transitions(done, done)).toEqual([]);
    expect(transitions({ phase: 'Running' }, { phase: 'Failed' })[0]).toMatchObject({ type: 'Warning' });
  });

  it('says what was accepted, once for each generation', () => {
    const counts = { total: 3, invalid: 1, pending: 2, running: 0, succeeded: 0, failed: 0, cancelled: 0 };
    const first: OrderStatus = { phase: 'Pending', counts, observedGeneration: 1 };
    expect(transitions(undefined, first)).toEqual([
      { type: 'Normal', reason: 'Accepted', message: 'generation 1: 3 artifacts, 1 of them invalid' },
    ]);
    expect(transitions(first, first)).toEqual([]);
    const second = { ...first, observedGeneration: 2, counts: { ...counts, total: 1, invalid: 0 } };
    expect(transitions(first, second).map(({ message }) => message)).toEqual(['generation 2: 1 artifact']);
  });

  it('says when artifacts run, and when the Order is suspended and goes on', () => {
    const counts = { total: 1, invalid: 0, pending: 0, running: 1, succeeded: 0, failed: 0, cancelled: 0 };
    const running: OrderStatus = { phase: 'Running', counts };
    const reasons = (before: OrderStatus, after: OrderStatus) =>
      transitions(before, after).map(({ reason }) => reason);
    expect(reasons({ phase: 'Pending' }, running)).toEqual(['Started']);
    expect(reasons(running, running)).toEqual([]);
    expect(reasons({ phase: 'Pending' }, { phase: 'Suspended' })).toEqual(['Suspended']);
    expect(reasons({ phase: 'Suspended' }, running)).toEqual(['Resumed', 'Started']);
    const cancelled: OrderStatus = { phase: 'Cancelled' };
    expect(reasons({ phase: 'Suspended' }, cancelled)).toEqual(['Resumed', 'Cancelled']);
    // One that is cancelled, or loses what it waited for, while it is suspended does not go on.
    expect(transitions({ phase: 'Suspended' }, cancelled, { suspend: true })).toMatchObject([
      { reason: 'Cancelled' },
    ]);
  });

  it('says which run of a schedule has failed, once', () => {
    const at = (message?: string): OrderStatus => ({
      phase: 'Scheduled',
      artifactWorkflows: {
        a: { artifactIndex: 0, artifact: 'app', phase: 'Active', ...(message !== undefined && { message }) },
      },
    });
    const failed = at('run app-1 failed: no access');
    expect(transitions(at(), failed)).toEqual([
      { type: 'Warning', reason: 'RunFailed', message: 'artifact 0 (app): run app-1 failed: no access' },
    ]);
    expect(transitions(failed, failed)).toEqual([]);
    expect(transitions(at(), at('cancelled: its Workflow is being stopped'))).toEqual([]);
  });
});
