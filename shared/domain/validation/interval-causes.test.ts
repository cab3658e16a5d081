import { Cron as Croner } from 'croner';
import { describe, expect, it } from 'vitest';
import { fc } from '#shared/testing';
import { intervalCauses } from './interval-causes.ts';

const minutes = 60_000;
const problem = (schedule: string, shortest = 10) =>
  intervalCauses('cron', { schedules: ['@daily', schedule] }, shortest * minutes)[0];

describe('intervalCauses', () => {
  it.each([
    '*/10 * * * *',
    '0 3 * * 1',
    '@daily',
    '@hourly',
    '@every 10m',
    '0 0 29 2 *',
    '0,55 3,5 * * *',
    '5-59/10 * * * *',
  ])('accepts %s ten minutes apart', (schedule) => expect(problem(schedule)).toBeUndefined());

  it.each(['0,55 0,23 * * *', '55,4 5,6 * * *', '* * * * *', '0,5 0 1 1 *', '0,55 * * * *', '@every 9m59s'])(
    'refuses %s, naming schedule and setting',
    (schedule) =>
      expect(problem(schedule)).toEqual({
        reason: 'FieldValueInvalid',
        field: 'cron.schedules[1]',
        message: `Invalid value: "${schedule}": runs must be at least 10 minutes apart: limits.cronInterval of the operator's settings`,
      }),
  );

  it('takes any interval up to a day', () => {
    expect(problem('* * * * *', 1)).toBeUndefined();
    expect(problem('@hourly', 60)).toBeUndefined();
    expect(problem('@hourly', 61)).toBeDefined();
    expect(problem('0 0,12 * * *', 720)).toBeUndefined();
    expect(problem('30 3 * * *', 1_440)).toBeUndefined();
  });

  it('is true of the runs of every schedule that it accepts', () => {
    const list = (most: number) => fc.array(fc.nat(most), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(list(59), list(23), fc.integer({ min: 1, max: 1_440 }), (minute, hour, shortest) => {
        const schedule = `${minute.join()} ${hour.join()} * * *`;
        const runs = new Croner(schedule, { paused: true, timezone: 'UTC' }).nextRuns(40, new Date(0));
        const gaps = runs.slice(1).map((run, at) => run.getTime() - (runs[at]?.getTime() ?? 0));
        expect(problem(schedule, shortest) === undefined).toBe(Math.min(...gaps) >= shortest * minutes);
      }),
    );
  });
});
