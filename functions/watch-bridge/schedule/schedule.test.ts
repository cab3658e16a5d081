import { describe, expect, it } from 'vitest';
import { fc } from '#shared/testing';
import { FakeClock } from '../../../test/fixtures/fake-clock.ts';
import { Schedule } from './schedule.ts';

describe('Schedule', () => {
  it('fires each key once, at its last time, in the order of time', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 1, max: 1000 })), {
          maxLength: 300,
        }),
        (entries) => {
          const clock = new FakeClock();
          const fired: { key: string; at: number }[] = [];
          const schedule = new Schedule<number>(clock, (key) => fired.push({ key, at: clock.now() }));
          const last = new Map<string, number>();
          for (const [key, at] of entries) {
            schedule.set(`k${key}`, at, at);
            last.set(`k${key}`, at);
          }
          clock.advance(1000);
          expect(new Map(fired.map(({ key, at }) => [key, at]))).toEqual(last);
          expect(fired.length).toBe(last.size);
          expect(fired.map(({ at }) => at)).toEqual(fired.map(({ at }) => at).sort((a, b) => a - b));
          expect(schedule.size).toBe(0);
        },
      ),
    );
  });

  it('does not fire what was deleted', () => {
    const clock = new FakeClock();
    const fired: string[] = [];
    const schedule = new Schedule<undefined>(clock, (key) => fired.push(key));
    schedule.set('a', 10, undefined);
    schedule.set('b', 20, undefined);
    schedule.delete('a');
    clock.advance(100);
    expect(fired).toEqual(['b']);
  });

  it('waits for times further away than a timer can hold', () => {
    const clock = new FakeClock();
    const fired: number[] = [];
    const schedule = new Schedule<undefined>(clock, () => fired.push(clock.now()));
    const year = 365 * 24 * 3600 * 1000;
    schedule.set('a', year, undefined);
    clock.advance(year - 1);
    expect(fired).toEqual([]);
    clock.advance(1);
    expect(fired).toEqual([year]);
  });

  it('takes entries that its own callback sets', () => {
    const clock = new FakeClock();
    const fired: number[] = [];
    const schedule: Schedule<undefined> = new Schedule(clock, (key) => {
      fired.push(clock.now());
      if (fired.length < 3) schedule.set(key, clock.now() + 10, undefined);
    });
    schedule.set('a', 10, undefined);
    clock.advance(100);
    expect(fired).toEqual([10, 20, 30]);
  });
});
