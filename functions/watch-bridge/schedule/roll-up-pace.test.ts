import { describe, expect, it } from 'vitest';
import { type Order, orders } from '#shared/domain';
import { fc } from '#shared/testing';
import { RollUpPace, runOf } from './roll-up-pace.ts';

describe('runOf', () => {
  const since = (status: Order['status']) => {
    const metadata = { name: 'a', creationTimestamp: '2026-01-01T00:00:00Z' };
    const { apiVersion, kind } = orders;
    return runOf({ apiVersion, kind, metadata, spec: {}, status } as Order, true, 7).since;
  };
  const reconciling = (status: 'True' | 'False') => ({
    startTime: '2026-01-01T00:00:00Z',
    conditions: [
      { type: 'Reconciling', status, reason: 'x', message: '', lastTransitionTime: '2026-02-01T00:00:00Z' },
    ],
  });

  it('begins with each run of an Order, not with its first one', () => {
    expect(since(reconciling('True'))).toBe(Date.parse('2026-02-01T00:00:00Z'));
    expect(since(reconciling('False'))).toBe(7);
    expect(since({})).toBe(7);
  });
});

describe('RollUpPace', () => {
  it('wakes at once for the first change and for the last', () => {
    const pace = new RollUpPace();
    const run = { artifacts: 1000, since: 0, unfinished: true };
    expect(pace.timeFor('a', run, 100)).toBe(100);
    expect(pace.timeFor('a', run, 200)).toBeGreaterThan(200);
    expect(pace.timeFor('a', { ...run, unfinished: false }, 300)).toBe(300);
  });

  it('gives all changes within an interval the same time', () => {
    const pace = new RollUpPace();
    const run = { artifacts: 1000, since: 0, unfinished: true };
    pace.timeFor('a', run, 100);
    const at = pace.timeFor('a', run, 200);
    expect(pace.timeFor('a', run, 300)).toBe(at);
  });

  it('wakes the Order of a run of any size and length few times', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 11, max: 5000 }),
        fc.integer({ min: 1, max: 500 }),
        (artifacts, msPerArtifact) => {
          const pace = new RollUpPace();
          const times = new Set<number>();
          for (let done = 1; done <= artifacts; done++) {
            const unfinished = done < artifacts;
            times.add(pace.timeFor('a', { artifacts, since: 0, unfinished }, done * msPerArtifact));
          }
          expect(times.size).toBeLessThanOrEqual(40);
        },
      ),
    );
  });

  it('never gives a time in the past', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(10_000)), (steps) => {
        const pace = new RollUpPace();
        let now = 0;
        for (const step of steps) {
          now += step;
          const at = pace.timeFor('a', { artifacts: 100, since: 0, unfinished: true }, now);
          expect(at).toBeGreaterThanOrEqual(now);
        }
      }),
    );
  });
});
