import { rollUpInterval } from '#shared/domain';

/** What the pace of an Order's roll-ups depends on. */
export interface Run {
  artifacts: number;
  /** When it began, ms since the epoch. */
  since: number;
  /** Whether any of its ArtifactWorkflows has not finished. */
  unfinished: boolean;
}

/**
 * When an Order may be woken for its children: at least `rollUpInterval` after the last time, so that the status writes of a
 * run stay few however many artifacts it has; at once when the last one has finished.
 */
export class RollUpPace {
  /** By Order uid: the last time given, past or to come. Bounded by the live Orders. */
  readonly #last = new Map<string, number>();

  /** The time (ms since the epoch) for the wake that a change at `now` asks for. */
  timeFor(uid: string, run: Run, now: number): number {
    const last = this.#last.get(uid);
    if (last !== undefined && last > now && run.unfinished) return last;
    const spaced = (last ?? Number.NEGATIVE_INFINITY) + rollUpInterval(run.artifacts, now - run.since);
    const at = run.unfinished ? Math.max(now, spaced) : now;
    this.#last.set(uid, at);
    return at;
  }

  forget(uid: string): void {
    this.#last.delete(uid);
  }
}
