import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createAgenda, dueTime } from './ttl.ts';

describe('dueTime', () => {
  const at = Date.parse('2026-01-01T00:00:00Z');
  const status = (phase: 'Succeeded' | 'Failed') => ({ phase, finishedAt: '2026-01-01T00:00:00Z' });
  it.each([
    [{ secondsAfterCompletion: 5 }, 'Succeeded', at + 5000],
    [{ secondsAfterCompletion: 5, secondsAfterSuccess: 1 }, 'Succeeded', at + 1000],
    [{ secondsAfterCompletion: 5, secondsAfterSuccess: 1 }, 'Failed', at + 5000],
    [{ secondsAfterFailure: 0 }, 'Failed', at],
    [{ secondsAfterFailure: 0 }, 'Succeeded', undefined],
    [undefined, 'Succeeded', undefined],
  ] as const)('%j after %s', (ttlStrategy, phase, expected) => {
    expect(dueTime({ ...(ttlStrategy && { ttlStrategy }) }, status(phase))).toBe(expected);
  });

  it('is never before the end', () => {
    expect(dueTime({ ttlStrategy: { secondsAfterCompletion: 0 } }, { phase: 'Running' })).toBeUndefined();
  });
});

describe('createAgenda', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('runs what is due, once, in time, however far away', () => {
    const run = vi.fn();
    const agenda = createAgenda(run);
    const start = Date.now();
    agenda.set('late', start + 2 ** 32);
    agenda.set('b', start + 2000);
    agenda.set('a', start + 1000);
    agenda.set('gone', start + 1000);
    agenda.delete('gone');
    vi.advanceTimersByTime(1500);
    expect(run.mock.calls).toEqual([[['a']]]);
    vi.advanceTimersByTime(1000);
    expect(run.mock.calls).toEqual([[['a']], [['b']]]);
    vi.advanceTimersByTime(2 ** 32);
    expect(run).toHaveBeenLastCalledWith(['late']);
    agenda.close();
  });
});
