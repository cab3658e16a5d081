import { describe, expect, it } from 'vitest';
import { cronCauses } from './cron-causes.ts';

function problem(schedule: string, timezone?: string): string | undefined {
  return cronCauses('cron', { schedules: [schedule], ...(timezone === undefined ? {} : { timezone }) })[0]
    ?.message;
}

describe('cronCauses', () => {
  it.each(['*/10 * * * *', '0 3 * * 1', '@daily', '@hourly', '@every 10m', '0 0 29 2 *', '30 2 1 * *'])(
    'accepts %s',
    (schedule) => expect(problem(schedule)).toBeUndefined(),
  );

  it.each([
    ['* * * * *', 'at least 10 minutes'],
    ['0,5 0 1 1 *', 'at least 10 minutes'],
    ['0,55 * * * *', 'at least 10 minutes'],
    ['@every 9m59s', 'at least 10 minutes'],
    ['@every now', 'duration'],
    ['0 0 31 2 *', 'never'],
    ['0 0 * * * *', 'five fields'],
    ['61 * * * *', 'minute'],
    ['@sometimes', '@sometimes'],
    ['', 'five fields'],
    ['{{x}} * * * *', '{{'],
  ])('refuses %s', (schedule, part) => expect(problem(schedule)).toContain(part));

  it('refuses a time zone that does not exist, and accepts one that does', () => {
    expect(problem('@daily', 'Mars/Olympus')).toContain('Mars/Olympus');
    expect(problem('@daily', 'Europe/Berlin')).toBeUndefined();
  });
});
