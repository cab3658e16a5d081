import { Cron as Croner } from 'croner';
import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { intervalCauses } from './interval-causes.ts';

const minutes = 60_000;
const problems = (schedules: string[], shortest = 10) =>
  intervalCauses('cron', { schedules }, shortest * minutes);
const problem = (schedule: string, shortest = 10) => problems([schedule], shortest)[0];

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
        field: 'cron.schedules[0]',
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

  it.each([
    [['0 3 * * *', '10 3 * * *']],
    [['55 23 * * *', '5 0 * * *']],
    // One run, which is not doubled.
    [['@daily', '@hourly', '0 */6 * * *']],
    // Never on the same day, nor on days that follow each other at these times.
    [['0 3 * * 1-5', '5 3 * * 0,6']],
    [['58 23 * * 1', '2 0 * * 1']],
    [['0 3 1 * *', '5 3 2 * *']],
    [['0 3 28 2 *', '5 3 29 2 *']],
  ])('accepts %j together', (schedules) => expect(problems(schedules)).toEqual([]));

  it.each([
    [['0 3 * * *', '5 3 * * *']],
    [['58 23 * * *', '2 0 * * *']],
    [['2 0 * * 2', '58 23 * * 1']],
    [['0 3 * * 1-5', '5 3 * * 5,6']],
    [['58 23 31 12 *', '2 0 1 1 *']],
    [['58 23 28 2 *', '2 0 29 2 *']],
    // The 13th or a Friday.
    [['0 3 13 * 5', '5 3 13 6 *']],
    [['0 3 * * *', '@every 1h']],
    [['@every 2h', '@every 1h']],
  ])('refuses %j: runs of two schedules are too close together', ([first = '', second = '']) =>
    expect(problems([first, second])).toEqual([
      {
        reason: 'FieldValueInvalid',
        field: 'cron.schedules[1]',
        message: `Invalid value: "${second}": its runs and those of schedules[0], "${first}", must be at least 10 minutes apart: limits.cronInterval of the operator's settings`,
      },
    ]),
  );

  it('is true of the runs of two schedules together', () => {
    const one = fc
      .tuple(fc.nat(59), fc.constantFrom(0, 1, 22, 23), fc.uniqueArray(fc.nat(6), { minLength: 1 }))
      .map(([minute, hour, days]) => `${minute} ${hour} * * ${days.join()}`);
    fc.assert(
      fc.property(one, one, fc.integer({ min: 1, max: 240 }), (a, b, shortest) => {
        const runs = [a, b].flatMap((schedule, which) =>
          new Croner(schedule, { paused: true, timezone: 'UTC' })
            .nextRuns(15, new Date(0))
            .map((run) => ({ time: run.getTime(), which })),
        );
        const inOrder = runs.filter(({ time }) => time < 14 * 86_400_000).sort((x, y) => x.time - y.time);
        const gaps = inOrder.slice(1).map(({ time, which }, at) => {
          const before = inOrder[at];
          const gap = time - (before?.time ?? 0);
          return which === before?.which || gap === 0 ? Number.POSITIVE_INFINITY : gap;
        });
        expect(problems([a, b], shortest).length === 0).toBe(Math.min(...gaps) >= shortest * minutes);
      }),
    );
  });

  it('takes ten schedules of some days each', () => {
    const list = (schedule: (at: number) => string) => Array.from({ length: 10 }, (_, at) => schedule(at));
    expect(
      problems(
        list((at) => `${at * 6} 3 ${at + 1} * *`),
        1_440,
      ),
    ).toEqual([]);
    expect(
      problems(
        list((at) => `${54 - at * 6} 3 ${at + 1} * *`),
        1_440,
      ),
    ).toHaveLength(9);
  });
});
