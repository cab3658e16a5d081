import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../shared/async/testing/fake-clock.ts';
import { Resync } from './resync.ts';

interface Thing {
  done: boolean;
}

function setUp() {
  const clock = new FakeClock();
  const announced: { at: number; epoch: string }[] = [];
  const resync = new Resync<Thing>({
    clock,
    random: () => 0.5,
    unsettledMs: 60_000,
    settledMs: 3_600_000,
    isUnsettled: (thing) => !thing.done,
    announce: (_thing, epoch) => announced.push({ at: clock.now(), epoch }),
  });
  return { clock, announced, resync };
}

describe('Resync', () => {
  it('announces what is unsettled every minute, each time under another epoch', () => {
    const { clock, announced, resync } = setUp();
    resync.note('a', { done: false });
    clock.advance(180_000);
    expect(announced.map(({ at }) => at)).toEqual([60_000, 120_000, 180_000]);
    expect(new Set(announced.map(({ epoch }) => epoch)).size).toBe(3);
  });

  it('announces what is settled every hour', () => {
    const { clock, announced, resync } = setUp();
    resync.note('a', { done: true });
    clock.advance(3_600_000);
    expect(announced.map(({ at }) => at)).toEqual([3_600_000]);
  });

  it('is not put off by changes', () => {
    const { clock, announced, resync } = setUp();
    for (let turn = 0; turn < 7; turn++) {
      resync.note('a', { done: false });
      clock.advance(10_000);
    }
    expect(announced.map(({ at }) => at)).toEqual([60_000]);
  });

  it('comes closer when a settled object turns unsettled', () => {
    const { clock, announced, resync } = setUp();
    resync.note('a', { done: true });
    resync.note('a', { done: false });
    clock.advance(60_000);
    expect(announced.length).toBe(1);
    expect(resync.unsettled).toBe(1);
  });

  it('tells when a resync found work', () => {
    const { clock, resync } = setUp();
    expect(resync.note('a', { done: false })).toBe(false);
    clock.advance(60_000);
    expect(resync.note('a', { done: true })).toBe(true);
    expect(resync.note('a', { done: true })).toBe(false);
  });

  it('claims no credit when another reason woke the object in between', () => {
    const { clock, resync } = setUp();
    resync.note('a', { done: false });
    clock.advance(60_000);
    resync.woken('a');
    expect(resync.note('a', { done: true })).toBe(false);
  });

  it('stops for what is gone', () => {
    const { clock, announced, resync } = setUp();
    resync.note('a', { done: false });
    resync.forget('a');
    clock.advance(3_600_000);
    expect(announced).toEqual([]);
  });
});
