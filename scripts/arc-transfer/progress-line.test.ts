import { expect, it } from 'vitest';
import { progressLine } from './progress-line.ts';

function shown(readings: readonly [number, number][]): string {
  let text = '';
  let nowMs = 0;
  const { progress } = progressLine({ write: (more) => (text += more) }, () => nowMs);
  for (const [done, total] of readings) {
    progress(done, total);
    nowMs += 1000;
  }
  return text;
}

it('shows the rate of the bytes that are sent, without those that exist at the destination', () => {
  const shrinking: [number, number][] = [
    [0, 10_000_000],
    [0, 4096],
    [4096, 4096],
  ];
  expect(shown(shrinking)).toBe('100 %  4 KiB of 4 KiB, 4 KiB/s\n');
});

it('shows no bytes where steps are counted', () => {
  const counted: [number, number][] = [
    [0, 100],
    [50, 100],
    [100, 100],
  ];
  expect(shown(counted)).toBe('50 %\n100 %\n');
});
