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
  it('fires at the time', () => {
    const { clock, fired, due } = setUp();
    due.note('a', { at: 5000 });
    clock.advance(5000);
    expect(fired).toEqual([5000]);
  });

  it('fires at once when the time has passed already', () => {
    const { clock, fired, due } = setUp();
    clock.advance(10_000);
    due.note('a', { at: 5000 });
    clock.advance(0);
    expect(fired).toEqual([10_000]);
  });

  it('fires again until the object shows that it was handled', () => {
    const { clock, fired, due } = setUp();
    due.note('a', { at: 5000 });
    clock.advance(65_000);
    due.note('a', { at: 5000 });
    clock.advance(60_000);
    expect(fired).toEqual([5000, 65_000, 125_000]);
    due.note('a', {});
    clock.advance(600_000);
    expect(fired.length).toBe(3);
    expect(due.size).toBe(0);
  });

  it('follows a time that moves', () => {
    const { clock, fired, due } = setUp();
    due.note('a', { at: 5000 });
    due.note('a', { at: 8000 });
    clock.advance(8000);
    expect(fired).toEqual([8000]);
  });

  it('stops for what is gone', () => {
    const { clock, fired, due } = setUp();
    due.note('a', { at: 5000 });
    due.forget('a');
    clock.advance(600_000);
    expect(fired).toEqual([]);
  });
});
