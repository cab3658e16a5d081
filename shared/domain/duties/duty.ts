import type { Step } from './steps.ts';

/** What a function has to do for one object. */
export type Duty = Work | Look;

/** A step that changes something when it is done. */
export interface Work {
  step: Step;
  /** For people and logs. Another text says that there is more to do than before. */
  why: string;
  /** Unix ms; not later than now: it is due. */
  due: number;
  pace?: Pace;
}

/** How often a step that many changes make due is done; ms. */
export interface Pace {
  /** Between two of it, at least. */
  spacing: number;
  /** How long the first one may wait for more to do. */
  debounce: number;
}

/**
 * A step that looks at what nobody may watch: the data of Secrets, quotas, rights. It is repeated while the object has it; the first time after
 * `first` ms, then after twice as long each time, up to `longest`.
 */
export interface Look {
  step: Step;
  /** Another text asks for a look at once. */
  why: string;
  look: { first: number; longest: number };
}

/** True for a duty whose time has come. A look never is: it may find nothing to do. */
export function isDue(duty: Duty, now: Date): boolean {
  return 'due' in duty && duty.due <= now.getTime();
}

const minute = 60_000;
const hour = 60 * minute;

/** A look for what may appear at any moment: two of them come within the time for which artifacts wait (`patienceMs`). */
export const growing = (longest: number = hour): Look['look'] => ({ first: 3_000, longest });

/** A look at an interval. */
export const steady = (every: number): Look['look'] => ({ first: every, longest: every });

export const lookIntervals = { inUse: minute, atRest: hour } as const;
