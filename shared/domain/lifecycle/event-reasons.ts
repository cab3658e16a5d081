import type { HoldReason } from './holds.ts';

/** Reasons of the Events that functions record, in addition to the reasons of holds. docs/status.md says what each means. */
export const eventReasons = [
  'Accepted',
  'Started',
  'Succeeded',
  'RunFailed',
  'Stopped',
  'Resumed',
  'Rerun',
  'ParameterIgnored',
  'Invalid',
  'Completed',
  'Failed',
  'Cancelled',
  'Expired',
  'Superseded',
  'TargetShared',
  'RetryRequested',
  'ForceRequested',
  'CancelRequested',
  'WakeRefused',
] as const;

export type EventReason = (typeof eventReasons)[number] | HoldReason;
