import { Cron } from 'croner';
import { parseDuration } from '#shared/domain';

/** One line of a CronWorkflow's schedules: five fields, a descriptor such as @daily, or `@every 1h`. */
export interface Schedule {
  /** The first time after `time`; undefined if there is none. For `@every` the intervals count from `since`. */
  next(time: Date, since: Date): Date | undefined;
  /** The last time that is not after `time`, and after `since`; undefined if there is none. */
  last(time: Date, since: Date): Date | undefined;
}

/** Reads a schedule in a time zone (IANA name, default UTC). Throws Error for one that cannot be read. */
export function parseSchedule(text: string, timezone = 'UTC'): Schedule {
  const every = /^@every\s+(\S+)$/.exec(text)?.[1];
  return every === undefined ? calendar(text, timezone) : interval(text, every);
}

function calendar(text: string, timezone: string): Schedule {
  const cron = new Cron(text, { paused: true, timezone });
  return {
    next: (time) => cron.nextRun(time) ?? undefined,
    last(time, since) {
      // croner looks for times before the given one.
      const [found] = cron.previousRuns(1, new Date(time.getTime() + 1_000));
      return found !== undefined && found > since && found <= time ? found : undefined;
    },
  };
}

/** Whole seconds, as Argo counts them. */
function interval(text: string, every: string): Schedule {
  const ms = Math.floor((parseDuration(every) ?? 0) / 1_000) * 1_000;
  if (ms <= 0) throw new Error(`"${text}" is not a schedule: @every takes a duration of at least 1s`);
  const at = (count: number, since: Date) => new Date(since.getTime() + count * ms);
  const passed = (time: Date, since: Date) =>
    Math.max(0, Math.floor((time.getTime() - since.getTime()) / ms));
  return {
    next: (time, since) => at(passed(time, since) + 1, since),
    last(time, since) {
      const count = passed(time, since);
      return count === 0 ? undefined : at(count, since);
    },
  };
}
