import { Cron as Croner } from 'croner';
import { ArcError, type Cause } from '#shared/errors';
import type { Cron } from '../kinds/common.ts';
import { longestSchedule, mostCronSchedules } from '../values/limits.ts';
import { durationProblem, invalid, quoted, required, templateCauses } from './causes.ts';
import { whenCauses } from './when-causes.ts';

/** Just before a Monday, a month and a leap year: looking from a fixed point, the answer is the same at any time of day. */
const reference = new Date('2023-12-31T23:59:00Z');

/**
 * What is wrong with a schedule: too long, unreadable or never due; or its condition may not be evaluated. How often it may be due is a
 * setting of the operator: see `intervalCauses`.
 */
export function cronCauses(field: string, cron: Cron | undefined): Cause[] {
  if (!cron) return [];
  const condition = whenCauses(`${field}.when`, cron.when);
  if (condition.length > 0) return condition;
  const { schedules } = cron;
  if (schedules.length === 0) return [required(`${field}.schedules`, 'at least one schedule')];
  if (schedules.length > mostCronSchedules) {
    const message = `Too many: ${schedules.length}: must have at most ${mostCronSchedules} items`;
    return [{ reason: 'FieldValueTooMany', field: `${field}.schedules`, message }];
  }
  const zone = zoneCauses(`${field}.timezone`, cron.timezone);
  if (zone.length > 0) return zone;
  return schedules.flatMap((schedule, index) => {
    const at = `${field}.schedules[${index}]`;
    const problem = templateCauses(at, schedule)[0]?.message ?? problemOf(schedule);
    return problem ? [invalid(at, `Invalid value: ${quoted(schedule)}: ${problem}`)] : [];
  });
}

/** Characters of the longest name of a time zone, with room. */
const longestZone = 64;

function zoneCauses(field: string, timezone: string | undefined): Cause[] {
  if (timezone === undefined || timezone === '') return [];
  if (timezone.length <= longestZone && isTimeZone(timezone)) return [];
  return [invalid(field, `Invalid value: ${quoted(timezone)}: not a time zone such as Europe/Berlin`)];
}

function isTimeZone(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone });
    return true;
  } catch {
    return false;
  }
}

function problemOf(schedule: string): string | undefined {
  if (schedule.length > longestSchedule) return `must have at most ${longestSchedule} characters`;
  const every = /^@every\s+(\S+)$/.exec(schedule)?.[1];
  if (every !== undefined) return durationProblem(every);
  if (!schedule.startsWith('@') && schedule.trim().split(/\s+/).length !== 5) return 'must have five fields';
  try {
    // The time zone moves the runs and does not change which there are.
    const runs = new Croner(schedule, { paused: true, timezone: 'UTC' });
    return runs.nextRun(reference) ? undefined : 'it never comes';
  } catch (caught) {
    return ArcError.from(caught).message.replace(/^CronPattern: /, '');
  }
}
