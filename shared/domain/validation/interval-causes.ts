import { CronPattern } from 'croner';
import type { Cause } from '#shared/errors';
import type { Cron } from '../kinds/common.ts';
import { parseDuration } from '../values/duration.ts';
import { invalid, quoted } from './causes.ts';

const dayMinutes = 1_440;

/** Schedules of which two runs follow each other in less than so many milliseconds, at most a day. They have been validated before. */
export function intervalCauses(field: string, cron: Cron | undefined, shortestMs: number): Cause[] {
  return (cron?.schedules ?? []).flatMap((schedule, index) => {
    if (intervalMs(schedule) >= shortestMs) return [];
    const message = `Invalid value: ${quoted(schedule)}: runs must be at least ${shortestMs / 60_000} minutes apart: limits.cronInterval of the operator's settings`;
    return [invalid(`${field}.schedules[${index}]`, message)];
  });
}

/** The least time between two runs, as if it ran every day. */
function intervalMs(schedule: string): number {
  const every = /^@every\s+(\S+)$/.exec(schedule)?.[1];
  if (every !== undefined) return parseDuration(every) ?? 0;
  const { minute, hour } = new CronPattern(schedule, 'UTC');
  const times = numbersOf(hour).flatMap((h) => numbersOf(minute).map((m) => h * 60 + m));
  const gaps = times.map((time, at) => (times[at + 1] ?? (times[0] ?? 0) + dayMinutes) - time);
  return Math.min(...gaps) * 60_000;
}

/** The positions of a field that are set. */
function numbersOf(flags: readonly number[]): number[] {
  return [...flags.keys()].filter((at) => flags[at] === 1);
}
