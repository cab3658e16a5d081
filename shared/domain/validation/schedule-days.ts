import type { CronPattern } from 'croner';

const dayMs = 86_400_000;
/** The years 2001 to 2028: every date falls on every day of the week, with every possible following day. */
const [from, to] = [Date.UTC(2001, 0, 1), Date.UTC(2029, 0, 1)];

let calendar: Array<{ month: number; day: number; weekday: number }> | undefined;

/** Returns the days of a schedule as flags, from a fixed day on, for the period after which the calendar repeats. */
export function daysOf({ month, day, dayOfWeek, starDOM, starDOW }: CronPattern): Uint8Array {
  calendar ??= Array.from({ length: (to - from) / dayMs }, (_, at) => {
    const date = new Date(from + at * dayMs);
    return { month: date.getUTCMonth(), day: date.getUTCDate() - 1, weekday: date.getUTCDay() };
  });
  return Uint8Array.from(calendar, (date) => {
    const inMonth = day[date.day] === 1;
    const inWeek = (dayOfWeek[date.weekday] ?? 0) > 0;
    // A schedule that names days of the month and days of the week is due on either.
    const isDay = starDOM || starDOW ? inMonth && inWeek : inMonth || inWeek;
    return isDay && month[date.month] === 1 ? 1 : 0;
  });
}

/** True if a day of `first`, plus `later` days, is a day of `second`. */
export function follow(first: Uint8Array, second: Uint8Array, later: 0 | 1): boolean {
  for (let at = 0; at < first.length; at += 1)
    if (first[at] === 1 && second[(at + later) % second.length] === 1) return true;
  return false;
}
