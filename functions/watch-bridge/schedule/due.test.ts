import { describe, expect, it } from 'vitest';
import type { Clock } from '#shared/async';
import { fc, runs } from '#shared/testing';
import { FakeClock } from '../../../shared/async/testing/fake-clock.ts';
import { DueTimes } from './due.ts';

/** The time of day of a machine whose clock is corrected; its timers count the time that passes. */
class JumpingClock implements Clock {
  readonly #steady = new FakeClock();
  #offset = 0;

  now(): number {
    return this.#steady.now() + this.#offset;
  }

  after(ms: number, callback: () => void): () => void {
    return this.#steady.after(ms, callback);
  }

  jump(ms: number): void {
    this.#offset += ms;
  }

  advance(ms: number): void {
    this.#steady.advance(ms);
  }
}

interface Thing {
  at?: number;
  once?: boolean;
}

function setUp() {
  const clock = new FakeClock();
  const fired: number[] = [];
  const due = new DueTimes<Thing>({
    clock,
    random: () => 0.5,
    repeatMs: 60_000,
    longestRepeatMs: 3_600_000,
    dueAt: (thing) => thing.at,
    repeats: (thing) => thing.once !== true,
    fire: () => fired.push(clock.now()),
  });
  return { clock, fired, due };
}

describe('DueTimes', () => {
  it('fires at the due time', () => {
    const { clock, fired, due } = setUp();
    due.update('a', { at: 5000 });
    clock.advance(5000);
    expect(fired).toEqual([5000]);
  });

  it('fires once for what is not to be repeated, and again when it is another time or is to be repeated', () => {
    const { clock, fired, due } = setUp();
    due.update('a', { at: 5_000, once: true });
    clock.advance(300_000);
    due.update('a', { at: 5_000, once: true });
    clock.advance(300_000);
    expect(fired).toEqual([5_000]);
    due.update('a', { at: 605_000, once: true });
    clock.advance(60_000);
    expect(fired).toEqual([5_000, 605_000]);
    due.update('a', { at: 605_000 });
    clock.advance(1);
    expect(fired).toHaveLength(3);
  });

  it('drops a time that is no number, so that all others still come', () => {
    const { clock, fired, due } = setUp();
    for (const at of [Number.NaN, Number.POSITIVE_INFINITY]) due.update('odd', { at });
    due.update('a', { at: 5000 });
    expect(due.size).toBe(1);
    clock.advance(5000);
    expect(fired).toEqual([5000]);
    due.update('a', { at: Number.NaN });
    expect(due.size).toBe(0);
  });

  it('fires at once when the due time has passed', () => {
    const { clock, fired, due } = setUp();
    clock.advance(10_000);
    due.update('a', { at: 5000 });
    clock.advance(0);
    expect(fired).toEqual([10_000]);
  });

  it('fires again until a newer state of the object has no such due time', () => {
    const { clock, fired, due } = setUp();
    due.update('a', { at: 5000 });
    clock.advance(65_000);
    due.update('a', { at: 5000 });
    clock.advance(120_000);
    expect(fired).toEqual([5000, 65_000, 185_000]);
    due.update('a', {});
    clock.advance(600_000);
    expect(fired.length).toBe(3);
    expect(due.size).toBe(0);
  });

  it('repeats the same due time less and less often, at last each hour, and another one as at first', () => {
    const { clock, fired, due } = setUp();
    const minutes = () => fired.splice(0).map((at) => at / 60_000);
    due.update('a', { at: 0 });
    for (let hour = 0; hour < 5; hour++) {
      clock.advance(3_600_000);
      due.update('a', { at: 0 });
    }
    expect(minutes()).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183, 243]);
    due.update('a', { at: 300 * 60_000 });
    clock.advance(4 * 60_000);
    expect(minutes()).toEqual([300, 301, 303]);
    // The uid again, after the object was forgotten.
    due.forget('a');
    due.update('a', { at: 300 * 60_000 });
    clock.advance(3 * 60_000);
    expect(minutes()).toEqual([304, 305, 307]);
  });

  it('follows a due time that moves', () => {
    const { clock, fired, due } = setUp();
    due.update('a', { at: 5000 });
    due.update('a', { at: 8000 });
    clock.advance(8000);
    expect(fired).toEqual([8000]);
  });

  it('stops for a deleted object', () => {
    const { clock, fired, due } = setUp();
    due.update('a', { at: 5000 });
    due.forget('a');
    clock.advance(600_000);
    expect(fired).toEqual([]);
  });
});

describe('1,000 due times and a clock that jumps both ways', () => {
  const [minute, day] = [60_000, 86_400_000];
  const jumps = fc.array(
    fc.record({
      after: fc.nat(30 * minute),
      by: fc.integer({ min: -3 * 60 * minute, max: 3 * 60 * minute }),
    }),
    {
      minLength: 40,
      maxLength: 80,
    },
  );
  const times = fc.array(fc.nat(day), { minLength: 1_000, maxLength: 1_000 });

  /** What happens to 1,000 things that are handled when they fire, but for each nth wake, which is lost. */
  function play(dueAt: readonly number[], changes: readonly { after: number; by: number }[], lost: number) {
    const clock = new JumpingClock();
    /** The time of day had been reached for so long by the clock that passes, when it fired. */
    const handled = new Map<string, number>();
    const reached = new Map<string, number>();
    let [wakes, passed] = [0, 0];
    const faults: string[] = [];
    const due = new DueTimes<Thing & { uid: string }>({
      clock,
      random: () => 0.5,
      repeatMs: minute,
      longestRepeatMs: 60 * minute,
      dueAt: ({ at }) => at,
      repeats: () => true,
      fire({ uid, at = 0 }) {
        wakes += 1;
        if (clock.now() < at) faults.push(`${uid} was early`);
        if (handled.has(uid)) faults.push(`${uid} fired twice`);
        if (wakes % lost === 0) return;
        handled.set(uid, passed - (reached.get(uid) ?? passed));
        due.forget(uid);
      },
    });
    for (const [index, at] of dueAt.entries()) due.update(`thing-${index}`, { at, uid: `thing-${index}` });
    const pass = (ms: number) => {
      for (let left = ms; left > 0; left -= minute) {
        clock.advance(Math.min(left, minute));
        passed += Math.min(left, minute);
        dueAt.forEach((at, index) => {
          if (at <= clock.now() && !reached.has(`thing-${index}`)) reached.set(`thing-${index}`, passed);
        });
      }
    };
    for (const { after, by } of changes) {
      pass(after);
      clock.jump(by);
    }
    pass(Math.max(0, day - clock.now()) + 10 * minute);
    due.close();
    return { faults, handled };
  }

  it('fires each once, none early, none lost, and none later than a minute after its time has come', () => {
    fc.assert(
      fc.property(times, jumps, (dueAt, changes) => {
        const { faults, handled } = play(dueAt, changes, Number.POSITIVE_INFINITY);
        expect(faults).toEqual([]);
        expect(handled.size).toBe(1_000);
        expect(Math.max(...handled.values())).toBeLessThanOrEqual(minute);
      }),
      { numRuns: runs(2), endOnFailure: true },
    );
  });

  it('fires again those whose wake is lost, until they are handled', () => {
    fc.assert(
      fc.property(times, jumps, (dueAt, changes) => {
        expect(play(dueAt, changes, 5).faults).toEqual([]);
        const end = play(dueAt, [...changes, { after: 4 * 60 * minute, by: 0 }], 5);
        expect(end.handled.size).toBe(1_000);
      }),
      { numRuns: runs(2), endOnFailure: true },
    );
  });
});
