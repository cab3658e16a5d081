import type { Step } from './steps.ts';

/** What a function has to do for one object. */
export type Duty = Work | Look;

/** A step that changes something when it runs. */
export interface Work {
  step: Step;
  /** For people and logs. A different text means that there is more to do than before. */
  why: string;
  /** Unix ms. The duty is due unless this lies in the future. */
  due: number;
  pace?: Pace;
  /** Size of the remaining work. While it shrinks, a function is in progress. */
  remaining?: number;
}

/** Rate of a step that many changes make due; ms. */
export interface Pace {
  /** Minimum interval between two deliveries. */
  spacing: number;
  /** Debounce of the first delivery. */
  debounce: number;
  /** True for a report on the way, which another one follows: duties that move something go first while many are due. */
  yields: boolean;
}

/**
 * A step that polls what nobody may watch: the data of Secrets, quotas, rights. It repeats while the object has it: first after `first` ms,
 * then at doubled intervals up to `longest`.
 */
export interface Look {
  step: Step;
  /** A different text asks for a look at once. */
  why: string;
  look: { first: number; longest: number };
}

/** Returns true for a duty whose time has come. Never true for a look, which may find nothing to do. */
export function isDue(duty: Duty, now: Date): boolean {
  return 'due' in duty && duty.due <= now.getTime();
}

/** Debounce of reports on the way: what starts, and ends a moment later, is reported together; ms. */
export const progressDebounce = 500;

const minute = 60_000;
export const hour = 60 * minute;

/** Polling with exponential backoff for what may appear at any moment: twice within the grace period of artifacts (`gracePeriodMs`). */
export const growing = (longest: number = hour): Look['look'] => ({ first: 3_000, longest });

/** Polling at a constant interval. */
export const steady = (every: number): Look['look'] => ({ first: every, longest: every });

export const lookIntervals = { inUse: minute, atRest: hour } as const;
