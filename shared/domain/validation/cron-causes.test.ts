import { describe, expect, it } from 'vitest';
import { cronCauses } from './cron-causes.ts';

function problem(schedule: string, timezone?: string): string | undefined {
  return cronCauses('cron', { schedules: [schedule], ...(timezone === undefined ? {} : { timezone }) })[0]
    ?.message;
}

describe('cronCauses', () => {
  it.each([
    '* * * * *',
    '0 3 * * 1',
    '@daily',
    '@hourly',
    '@every 10m',
    '0 0 29 2 *',
    '30 2 1 * *',
    '0,55 3,5 * * *',
    '5-59/10 * * * *',
    '0 0 ? * SUN,mon-Fri',
    '0 0 1-7 JAN-mar */7',
  ])('accepts %s', (schedule) => expect(problem(schedule)).toBeUndefined());

  it.each([
    ['@every 9999999999h', 'at most ten years'],
    [`@every ${'1'.repeat(100)}h`, 'at most 64 characters'],
    [`${'0,'.repeat(200)}0 * * * *`, 'at most 256 characters'],
    ['@every now', 'duration'],
    ['0 0 31 2 *', 'never'],
    ['0 0 * * * *', 'five fields'],
    ['61 * * * *', 'minute'],
    ['@sometimes', '@sometimes'],
    ['', 'five fields'],
    ['{{x}} * * * *', '{{'],
    // What Argo would refuse, and so never run.
    ['0 0 L * *', 'Argo does not know "L"'],
    ['0 0 1,15W * *', 'Argo does not know "15W"'],
    ['0 0 * * 1#2', 'Argo does not know "1#2"'],
    ['0 0 1 * +MON', 'Argo does not know "+MON"'],
    ['0 0 * * 5-7', 'Sunday is 0'],
  ])('refuses %s', (schedule, part) => expect(problem(schedule)).toContain(part));

  it('takes ten schedules and no more', () => {
    const schedules = Array.from({ length: 10 }, (_, index) => `${index} 3 * * *`);
    expect(cronCauses('cron', { schedules })).toEqual([]);
    expect(cronCauses('cron', { schedules: [...schedules, '30 3 * * *'] })).toEqual([
      {
        reason: 'FieldValueTooMany',
        field: 'cron.schedules',
        message: 'Too many: 11: must have at most 10 items',
      },
    ]);
  });

  it('does not repeat a long value', () => {
    expect(problem(`${'*'.repeat(100_000)}`)?.length).toBeLessThan(200);
    expect(problem('@daily', 'z'.repeat(100_000))?.length).toBeLessThan(200);
  });

  it('refuses a time zone that does not exist, and accepts one that does', () => {
    expect(problem('@daily', 'Mars/Olympus')).toContain('Mars/Olympus');
    for (const zone of ['Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Etc/GMT+1', 'UTC', 'US/Eastern'])
      expect(problem('@daily', zone)).toBeUndefined();
  });

  it('refuses a time zone that only JavaScript knows: Argo looks it up as a file', () => {
    for (const zone of ['europe/berlin', 'EUROPE/BERLIN', 'utc', '+01:00', 'us/eastern'])
      expect(problem('@daily', zone)).toContain('not a time zone such as Europe/Berlin');
  });
});
