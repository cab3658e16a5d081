import { describe, expect, it } from 'vitest';
import { dueTime } from './ttl.ts';

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
