import { expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { WriteRate } from './write-rate.ts';

const at = (now: number) => ({ perMinute: 6_000, now, source: 'of a test' });

it("allows a burst of a minute's bytes, then the sustained rate", () => {
  const rate = new WriteRate();
  for (let index = 0; index < 6; index += 1) rate.take('team', 1_000, at(0));
  expect(() => rate.take('team', 1_000, at(0))).toThrow(
    'Too many requests, please try again later: namespace "team" may write 6000 bytes per minute (of a test).',
  );
  rate.take('other', 6_000, at(0));
  expect(() => rate.take('team', 1_000, at(9_000))).toThrow();
  rate.take('team', 1_000, at(10_000));
  expect(() => rate.take('team', 1_000, at(10_000))).toThrow();
  rate.take('team', 6_000, at(200_000));
});

it('reports how long to wait, and does not charge refused writes', () => {
  const rate = new WriteRate();
  rate.take('team', 6_000, at(0));
  for (let index = 0; index < 3; index += 1) {
    const refused = () => rate.take('team', 500, at(0));
    expect(refused).toThrow(ArcError);
    expect(refused).toThrow(expect.objectContaining({ details: { retryAfterSeconds: 5 } }));
  }
  rate.take('team', 500, at(5_000));
});

it('neither stops nor pays for anybody when the clock is set back', () => {
  const rate = new WriteRate();
  rate.take('team', 3_000, at(3_600_000));
  rate.take('team', 3_000, at(0));
  expect(() => rate.take('team', 1, at(0))).toThrow();
  rate.take('team', 1_000, at(10_000));
});

it('forgets namespaces that write no more', () => {
  const rate = new WriteRate();
  for (let index = 0; index < 5_000; index += 1) rate.take(`team-${index}`, 600, at(index * 100));
  expect(rate.size).toBeLessThan(2_100);
});
