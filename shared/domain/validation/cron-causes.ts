import { Cron as Croner } from 'croner';
import { ArcError, type Cause } from '#shared/errors';
import type { Cron } from '../kinds/common.ts';
import { parseDuration } from '../values/duration.ts';
import { invalid, required, templateCauses } from './causes.ts';

/** The least time between two runs of a schedule. */
const shortestIntervalMs = 600_000;
/** Just before a Monday, a month and a leap year: looking from a fixed point, the answer is the same at any time of day. */
const reference = new Date('2023-12-31T23:59:00Z');
/** How far to look: gaps repeat day by day, and a day holds 144 runs that are ten minutes apart. */
const lookMs = 8 * 86_400_000;
const leastRuns = 20;
const mostRuns = 300;

/** What is wrong with a schedule: unreadable, never due, or due again within less than ten minutes. */
export function cronCauses(field: string, cron: Cron | undefined): Cause[] {
  if (!cron) return [];
  if (cron.schedules.length === 0) return [required(`${field}.schedules`, 'at least one schedule')];
  const zone = zoneCauses(`${field}.timezone`, cron.timezone);
  if (zone.length > 0) return zone;
  return cron.schedules.flatMap((schedule, index) => {
    const at = `${field}.schedules[${index}]`;
    const problem = templateCauses(at, schedule)[0]?.message ?? problemOf(schedule, cron.timezone);
    return problem ? [invalid(at, `Invalid value: "${schedule}": ${problem}`)] : [];
  });
}

function zoneCauses(field: string, timezone: string | undefined): Cause[] {
  if (timezone === undefined || timezone === '') return [];
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone });
    return [];
  } catch {
    return [invalid(field, `Invalid value: "${timezone}": not a time zone such as Europe/Berlin`)];
  }
}

function problemOf(schedule: string, timezone: string | undefined): string | undefined {
  const every = /^@every\s+(\S+)$/.exec(schedule)?.[1];
  if (every !== undefined) {
    const interval = parseDuration(every);
    if (interval === undefined) return 'not a duration such as 1h30m';
    return interval < shortestIntervalMs ? tooOften : undefined;
  }
  if (!schedule.startsWith('@') && schedule.trim().split(/\s+/).length !== 5) return 'must have five fields';
  try {
    return gapProblem(new Croner(schedule, { paused: true, timezone: timezone || 'UTC' }));
  } catch (caught) {
    return ArcError.from(caught).message.replace(/^CronPattern: /, '');
  }
}

const tooOften = 'runs must be at least 10 minutes apart';

function gapProblem(pattern: Croner): string | undefined {
  const first = pattern.nextRun(reference);
  if (!first) return 'it never comes';
  let last = first;
  for (let runs = 1; runs < mostRuns; runs += 1) {
    if (runs >= leastRuns && last.getTime() - first.getTime() > lookMs) return undefined;
    const next = pattern.nextRun(last);
    if (!next) return undefined;
    if (next.getTime() - last.getTime() < shortestIntervalMs) return tooOften;
    last = next;
  }
  return undefined;
}
