import type { Cause } from '#shared/base/errors';
import { parseDuration } from './duration.ts';
import { longestDuration, longestDurationMs } from './limits.ts';

/** The problem of one field as a metav1.StatusCause, and the texts that its message is made of. */

export function invalid(field: string, message: string): Cause {
  return { reason: 'FieldValueInvalid', field, message };
}

export function required(field: string, message: string): Cause {
  return { reason: 'FieldValueRequired', field, message: `Required value: ${message}` };
}

/** Quotes a user's value in a message: as JSON, cut to a readable length. */
export function quoted(value: string): string {
  return value.length <= 64 ? JSON.stringify(value) : `${JSON.stringify(value.slice(0, 60))}…`;
}

/** Says what is wrong with a duration; undefined for a valid one. */
export function durationProblem(value: string): string | undefined {
  if (value.length > longestDuration) return `must have at most ${longestDuration} characters`;
  const length = parseDuration(value);
  if (length === undefined) return 'not a duration such as 90s or 1h30m';
  if (length < 0) return 'must not be negative';
  return length > longestDurationMs
    ? `must be at most ten years, ${longestDurationMs / 3_600_000}h`
    : undefined;
}
