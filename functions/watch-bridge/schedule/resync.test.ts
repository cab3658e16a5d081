import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../shared/async/testing/fake-clock.ts';
import { Resync } from './resync.ts';

interface Thing {
  done: boolean;
  waits?: boolean;
  stuck?: boolean;
  uid?: string;
}

function setUp() {
  const clock = new FakeClock();
  const announced: { at: number; epoch: string; uid: string | undefined }[] = [];
  const resync = new Resync<Thing>({
    clock,
    random: () => 0.5,
    unsettledMs: 60_000,
    settledMs: 3_600_000,
    isUnsettled: (thing) => !thing.done,
    isInStep: (thing) => thing.waits === true,
    waitsForPerson: (thing) => thing.stuck === true,
    wake: ({ uid }, epoch) => announced.push({ at: clock.now(), epoch, uid }),
  });
  const uids = () => new Set(announced.map(({ uid }) => uid));
  return { clock, announced, resync, uids };
}

describe('Resync', () => {
  it('wakes an unsettled object every minute, each time with another epoch', () => {
    const { clock, announced, resync } = setUp();
    resync.update('a', { done: false });
    clock.advance(180_000);
    expect(announced.map(({ at }) => at)).toEqual([60_000, 120_000, 180_000]);
    expect(new Set(announced.map(({ epoch }) => epoch)).size).toBe(3);
  });

  it('wakes a settled object every hour', () => {
    const { clock, announced, resync } = setUp();
    resync.update('a', { done: true });
    clock.advance(3_600_000);
    expect(announced.map(({ at }) => at)).toEqual([3_600_000]);
  });

  it('passes over what changes, is woken or is delivered, for a while', () => {
    for (const happens of ['update', 'woken', 'touch'] as const) {
      const { clock, announced, resync } = setUp();
      resync.update('a', { done: false });
      for (let turn = 0; turn < 12; turn++) {
        clock.advance(30_000);
        if (happens === 'update') resync.update('a', { done: false });
        else resync[happens]('a');
      }
      // An object to which something happens all the time is woken all the same.
      expect(announced.map(({ at }) => at)).toEqual([330_000]);
    }
  });

  it('wakes what waits for something outside once an hour, and soon when it does not wait any more', () => {
    const { clock, announced, resync } = setUp();
    resync.update('a', { done: false, waits: true });
    clock.advance(3_500_000);
    expect(announced).toEqual([]);
    expect([...resync.unsettledObjects()]).toHaveLength(1);
    clock.advance(160_000);
    expect(announced).toHaveLength(1);
    resync.update('a', { done: false });
    clock.advance(60_000);
    expect(announced).toHaveLength(2);
  });

  it('wakes what waits for a person every minute for ten minutes, then in the bunch, and anew after another wake', () => {
    const { clock, announced, resync } = setUp();
    resync.update('a', { done: false, stuck: true });
    clock.advance(3_540_000);
    expect(announced.map(({ at }) => at / 60_000)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(resync.unsettled).toBe(0);
    clock.advance(120_000);
    expect(announced.at(-1)?.at).toBe(3_600_000);
    resync.doubt('a', true);
    clock.advance(1_800_000);
    expect(announced.length).toBe(11 + 10);
  });

  it('looks at many that wait, and wakes the few that do not', () => {
    const { clock, announced, resync } = setUp();
    for (let index = 0; index < 3_000; index += 1) resync.update(`a${index}`, { done: false, waits: true });
    resync.update('b', { done: false });
    clock.advance(120_000);
    expect(announced.length).toBeGreaterThan(0);
    expect(announced.length).toBeLessThan(3);
  });

  it('wakes a bounded number in an interval, and all of them by turns', () => {
    const { clock, announced, resync, uids } = setUp();
    const many = Array.from({ length: 3_000 }, (_, index) => `a${index}`);
    for (const uid of many) resync.update(uid, { done: false, uid });
    clock.advance(60_000);
    for (let round = 1; round <= 3; round++) {
      clock.advance(60_000);
      expect(announced.length).toBeLessThanOrEqual(round * 1_200 + 20);
    }
    expect(uids()).toEqual(new Set(many));
    expect(new Map(announced.slice(0, 3_000).map(({ uid }) => [uid, true])).size).toBe(3_000);
  });

  it('comes sooner when a settled object turns unsettled', () => {
    const { clock, announced, resync } = setUp();
    resync.update('a', { done: true });
    resync.update('a', { done: false });
    clock.advance(60_000);
    expect(announced.length).toBe(1);
    expect(resync.unsettled).toBe(1);
  });

  it('reports that a resync found work', () => {
    const { clock, resync } = setUp();
    expect(resync.update('a', { done: false })).toBe(false);
    clock.advance(60_000);
    expect(resync.update('a', { done: true })).toBe(true);
    expect(resync.update('a', { done: true })).toBe(false);
  });

  it('does not report it when another reason woke the object in between', () => {
    const { clock, resync } = setUp();
    resync.update('a', { done: false });
    clock.advance(60_000);
    resync.woken('a');
    expect(resync.update('a', { done: true })).toBe(false);
  });

  it('stops for a deleted object', () => {
    const { clock, announced, resync } = setUp();
    resync.update('a', { done: false });
    resync.forget('a');
    clock.advance(3_600_000);
    expect(announced).toEqual([]);
  });

  it('wakes all settled objects in one bunch, whenever each of them was seen', () => {
    const { clock, announced, resync } = setUp();
    for (let turn = 0; turn < 30; turn++) {
      resync.update(`a${turn}`, { done: true });
      clock.advance(60_000);
    }
    clock.advance(2 * 3_600_000);
    expect(announced.length).toBe(60);
    expect([...new Set(announced.map(({ at }) => at))]).toEqual([3_600_000, 7_200_000]);
  });

  it('sends a large bunch in portions, and all of it within one interval', () => {
    const { clock, announced, resync } = setUp();
    for (let turn = 0; turn < 250; turn++) resync.update(`a${turn}`, { done: true });
    clock.advance(3_600_000);
    expect(announced.length).toBe(100);
    clock.advance(2_000);
    expect(announced.length).toBe(250);
    clock.advance(60_000);
    expect(announced.length).toBe(250);
  });

  it('wakes what is settled soon after the start, and then at the usual interval', () => {
    const { clock, announced, resync } = setUp();
    resync.update('a', { done: true });
    resync.start();
    clock.advance(2 * 3_600_000);
    expect(announced.map(({ at }) => at)).toEqual([60_000, 3_660_000]);
  });

  it('wakes an object once more when nothing it says can show that its wake was lost', () => {
    const { clock, announced, resync } = setUp();
    resync.update('a', { done: true });
    resync.doubt('a', true);
    clock.advance(50_000);
    // It has answered another wake meanwhile.
    resync.update('a', { done: true });
    clock.advance(300_000);
    expect(announced.length).toBe(1);
    expect(resync.unsettled).toBe(0);
  });

  it('wakes what is unsettled every ten seconds in the first minute, unless something happens to it', () => {
    const { clock, announced, resync } = setUp();
    resync.update('a', { done: false });
    resync.update('b', { done: false, uid: 'b' });
    clock.advance(5_000);
    resync.start();
    for (let turn = 0; turn < 12; turn++) {
      resync.touch('b');
      clock.advance(5_000);
    }
    expect(announced.map(({ at }) => at)).toEqual([10, 20, 30, 40, 50, 60].map((at) => at * 1_000));
    clock.advance(60_000);
    expect(announced.slice(6).map(({ at, uid }) => [at, uid])).toEqual([
      [120_000, undefined],
      [120_000, 'b'],
    ]);
  });

  it('hurries nobody in the first minute while much changes: one a second then', () => {
    const { clock, announced, resync } = setUp();
    for (let index = 0; index < 100; index += 1) resync.update(`a${index}`, { done: false });
    resync.start();
    for (let second = 0; second < 50; second += 1) {
      for (let change = 0; change < 20; change += 1) resync.update(`done${change}`, { done: true });
      clock.advance(1_000);
    }
    expect(announced.length).toBeGreaterThan(30);
    expect(announced.length).toBeLessThan(45);
    clock.advance(9_000);
    expect(announced.length).toBeGreaterThan(90);
  });

  it('looks again at an object in doubt, and wakes it only when it is no longer settled', () => {
    const { clock, announced, resync } = setUp();
    const thing = { done: true };
    resync.update('a', thing);
    resync.doubt('a');
    clock.advance(60_000);
    expect(announced).toEqual([]);
    expect(resync.unsettled).toBe(0);
    resync.doubt('a');
    thing.done = false;
    clock.advance(60_000);
    expect(announced.length).toBe(1);
    expect(resync.unsettled).toBe(1);
    thing.done = true;
    clock.advance(60_000);
    expect(announced.length).toBe(1);
    expect(resync.unsettled).toBe(0);
  });
});
