import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../shared/async/testing/fake-clock.ts';
import { DueTimes } from './due.ts';

interface Thing {
  at?: number;
}

function setUp() {
  const clock = new FakeClock();
  const fired: number[] = [];
  const due = new DueTimes<Thing>({
    clock,
    random: () => 0.5,
    repeatMs: 60_000,
    dueAt: (thing) => thing.at,
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
    clock.advance(60_000);
    expect(fired).toEqual([5000, 65_000, 125_000]);
    due.update('a', {});
    clock.advance(600_000);
    expect(fired.length).toBe(3);
    expect(due.size).toBe(0);
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
