import { CronPattern } from 'croner';
import type { Cause } from '#shared/base/errors';
import type { Cron } from '../kinds/common.ts';
import { invalid, quoted } from '../values/causes.ts';
import { parseDuration } from '../values/duration.ts';
import { daysOf, follow } from './schedule-days.ts';

const dayMinutes = 1_440;

/**
 * Returns the schedules with two runs less than `shortestMs` apart (at most a day): runs of one schedule, or of two in the list. Two runs in the
 * same minute count as one, because a run is not started while another one is in progress. The schedules must be valid.
 */
export function intervalCauses(field: string, cron: Cron | undefined, shortestMs: number): Cause[] {
  const schedules = cron?.schedules ?? [];
  const apart = `at least ${shortestMs / 60_000} minutes apart: limits.cronInterval of the operator's settings`;
  const read = schedules.map(readSchedule);
  return schedules.flatMap((schedule, index) => {
    const at = `${field}.schedules[${index}]`;
    const one = read[index];
    if (!one) return [];
    if (intervalMs(one) < shortestMs)
      return [invalid(at, `Invalid value: ${quoted(schedule)}: runs must be ${apart}`)];
    const near = read.findIndex((other, before) => before < index && areNear(other, one, shortestMs));
    if (near < 0) return [];
    const both = `its runs and those of schedules[${near}], ${quoted(schedules[near] ?? '')}, must be ${apart}`;
    return [invalid(at, `Invalid value: ${quoted(schedule)}: ${both}`)];
  });
}

/** A calendar schedule as its days and their minutes, or an interval from its own last run. */
type Schedule = { days: Uint8Array; times: number[] } | { everyMs: number };

function readSchedule(schedule: string): Schedule {
  const every = /^@every\s+(\S+)$/.exec(schedule)?.[1];
  if (every !== undefined) return { everyMs: parseDuration(every) ?? 0 };
  const pattern = new CronPattern(schedule, 'UTC');
  const times = numbersOf(pattern.hour).flatMap((h) => numbersOf(pattern.minute).map((m) => h * 60 + m));
  return { days: daysOf(pattern), times };
}

/** Returns the minimum interval between two runs, as if it ran every day. */
function intervalMs(schedule: Schedule): number {
  if ('everyMs' in schedule) return schedule.everyMs;
  const { times } = schedule;
  const gaps = times.map((time, at) => (times[at + 1] ?? (times[0] ?? 0) + dayMinutes) - time);
  return Math.min(...gaps) * 60_000;
}

/** True if a run of one can follow a run of the other too soon. Runs of an interval may meet any other run. */
function areNear(a: Schedule, b: Schedule, shortestMs: number): boolean {
  if ('everyMs' in a || 'everyMs' in b) return true;
  const shortest = shortestMs / 60_000;
  const overNight = (late: number[], early: number[]) =>
    dayMinutes - (late.at(-1) ?? 0) + (early[0] ?? 0) < shortest;
  return (
    (leastGap(a.times, b.times) < shortest && follow(a.days, b.days, 0)) ||
    (overNight(a.times, b.times) && follow(a.days, b.days, 1)) ||
    (overNight(b.times, a.times) && follow(b.days, a.days, 1))
  );
}

/** Returns the smallest difference between two times, one of each sorted list; equal times are skipped. */
function leastGap(a: readonly number[], b: readonly number[]): number {
  let least = Number.POSITIVE_INFINITY;
  for (let [i, j] = [0, 0]; i < a.length && j < b.length; ) {
    const gap = (a[i] ?? 0) - (b[j] ?? 0);
    if (gap !== 0) least = Math.min(least, Math.abs(gap));
    if (gap <= 0) i += 1;
    else j += 1;
  }
  return least;
}

/** Returns the set positions of a field. */
function numbersOf(flags: readonly number[]): number[] {
  return [...flags.keys()].filter((at) => flags[at] === 1);
}
