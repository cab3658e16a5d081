import { expect, it } from 'vitest';
import { createLines } from './live-log.ts';

it('passes lines on in their order, without what a terminal would obey', () => {
  const lines = createLines();
  lines.add('app', 'begins');
  lines.add('app', '\u001b[2Jcleared');
  expect(lines.take()).toEqual([
    { artifact: 'app', text: 'begins' },
    { artifact: 'app', text: '\\x1b[2Jcleared' },
  ]);
  expect(lines.take()).toEqual([]);
});

it('keeps the newest for a reader that is slow, cuts long ones, and says how many are missing', () => {
  const lines = createLines();
  for (let count = 0; count < 10_000; count += 1) lines.add('app', `${count} ${'x'.repeat(5000)}`);
  const [first, ...rest] = lines.take();
  expect(first?.text).toBe(`... ${10_000 - rest.length} lines skipped`);
  expect(rest.length).toBeLessThan(2000);
  expect(rest.at(-1)?.text).toMatch(/^9999 x/);
  expect(Math.max(...rest.map(({ text }) => text.length))).toBe(2000);
  expect(lines.take()).toEqual([]);
});
