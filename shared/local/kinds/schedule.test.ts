import { describe, expect, it } from 'vitest';
import { parseSchedule } from './schedule.ts';

const at = (text: string) => new Date(text);
const born = at('2026-01-01T00:00:30Z');

describe('a schedule', () => {
  it.each([
    ['0 3 * * *', 'UTC', '2026-01-02T02:59:59Z', '2026-01-02T03:00:00Z', '2026-01-01T03:00:00Z'],
    ['0 3 * * *', 'UTC', '2026-01-02T03:00:00Z', '2026-01-03T03:00:00Z', '2026-01-02T03:00:00Z'],
    ['0 3 * * *', 'Europe/Berlin', '2026-01-02T01:00:00Z', '2026-01-02T02:00:00Z', '2026-01-01T02:00:00Z'],
    // The hour between 2 and 3 does not exist on that day in Berlin: the run comes right after it. Argo leaves it out.
    ['30 2 * * *', 'Europe/Berlin', '2026-03-29T00:00:00Z', '2026-03-29T01:00:00Z', '2026-03-28T01:30:00Z'],
    ['@hourly', 'UTC', '2026-01-02T00:10:00Z', '2026-01-02T01:00:00Z', '2026-01-02T00:00:00Z'],
    ['@every 10m', 'UTC', '2026-01-01T00:25:00Z', '2026-01-01T00:30:30Z', '2026-01-01T00:20:30Z'],
  ])('"%s" in %s, at %s: next at %s, last at %s', (text, zone, now, next, last) => {
    const schedule = parseSchedule(text, zone);
    expect(schedule.next(at(now), born)).toEqual(at(next));
    expect(schedule.last(at(now), born)).toEqual(at(last));
  });

  it('has no last time before it began', () => {
    expect(parseSchedule('0 3 * * *').last(at('2026-01-01T02:00:00Z'), born)).toBeUndefined();
    expect(parseSchedule('@every 10m').last(at('2026-01-01T00:05:00Z'), born)).toBeUndefined();
  });

  it.each(['', 'x', '61 * * * *', '@every', '@every 0s', '@never'])('refuses "%s"', (text) => {
    expect(() => parseSchedule(text).next(born, born)).toThrow();
  });
});
