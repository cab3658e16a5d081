import { Cron as Croner } from 'croner';
import { ArcError, type Cause } from '#shared/base/errors';
import type { Cron } from '../kinds/common.ts';
import { durationProblem, invalid, quoted, required } from '../values/causes.ts';
import { longestSchedule, mostCronSchedules } from '../values/limits.ts';
import { templateCauses } from './causes.ts';
import { whenCauses } from './when-causes.ts';

/** Just before a Monday, a month and a leap year: looking from a fixed point, the answer is the same at any time of day. */
const reference = new Date('2023-12-31T23:59:00Z');

/**
 * Returns what is wrong with a schedule: too long, invalid, never due, or with a condition that may not be evaluated. The minimum interval is a
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

/** Characters; longer than every time zone name. */
const longestZone = 64;

function zoneCauses(field: string, timezone: string | undefined): Cause[] {
  if (timezone === undefined || timezone === '') return [];
  if (timezone.length <= longestZone && isTimeZone(timezone)) return [];
  return [invalid(field, `Invalid value: ${quoted(timezone)}: not a time zone such as Europe/Berlin`)];
}

/** JavaScript accepts names in any case, and offsets; Argo looks the name up as a file. */
function isTimeZone(timeZone: string): boolean {
  if (!/^[A-Z][^/]*(?:\/[A-Z][^/]*)*$/.test(timeZone)) return false;
  try {
    const known = new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone;
    return known === timeZone || known.toLowerCase() !== timeZone.toLowerCase();
  } catch {
    return false;
  }
}

function problemOf(schedule: string): string | undefined {
  if (schedule.length > longestSchedule) return `must have at most ${longestSchedule} characters`;
  const every = /^@every\s+(\S+)$/.exec(schedule)?.[1];
  if (every !== undefined) return durationProblem(every);
  const fields = schedule.startsWith('@') ? [] : schedule.trim().split(/\s+/);
  if (!schedule.startsWith('@') && fields.length !== 5) return 'must have five fields';
  try {
    // The time zone shifts the runs but does not decide whether there are any.
    const runs = new Croner(schedule, { paused: true, timezone: 'UTC' });
    return runs.nextRun(reference) ? unknownToArgo(fields) : 'it never comes';
  } catch (caught) {
    return ArcError.from(caught).message.replace(/^CronPattern: /, '');
  }
}

/** A part of a field by the grammar of Argo's parser (robfig/cron): croner accepts more, and Argo would never run such a schedule. */
const argoPart = /^(?:[*?]|\d+(?:-\d+)?|[a-z]{3}(?:-[a-z]{3})?)(?:\/\d+)?$/i;
/** Argo's Sunday is 0; a number behind a slash is a step. */
const seventhDay = /(?<![\d/])7(?!\d)/;

function unknownToArgo(fields: readonly string[]): string | undefined {
  const part = fields.flatMap((field) => field.split(',')).find((one) => !argoPart.test(one));
  if (part !== undefined)
    return `Argo does not know ${quoted(part)}: use numbers, names of three letters, *, ranges and steps`;
  return seventhDay.test(fields[4] ?? '') ? 'Argo does not know day 7 of a week: Sunday is 0' : undefined;
}
