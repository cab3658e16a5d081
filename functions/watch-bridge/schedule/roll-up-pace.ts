import { type Order, rollUpInterval } from '#shared/domain';

/** The state of an Order's run that its pace depends on. */
export interface Run {
  artifacts: number;
  /** When it began, ms of the bridge's clock. */
  since: number;
  /** True if any of its ArtifactWorkflows has not finished. */
  unfinished: boolean;
}

/**
 * The run of an Order, which begins when the Order is Reconciling: there is another one after an edit, a force or a retry. An Order that does not
 * show that it runs begins now, and one that has not been seen yet counts as one artifact.
 *
 * @param timeOfDay ms since the epoch, when the bridge's clock shows `now`
 */
export function runOf(order: Order | undefined, unfinished: boolean, now: number, timeOfDay = now): Run {
  const reconciling = order?.status?.conditions?.find(({ type }) => type === 'Reconciling');
  const began = reconciling?.status === 'True' ? Date.parse(reconciling.lastTransitionTime) : Number.NaN;
  const artifacts = order?.spec.artifacts?.length ?? 1;
  return { artifacts, since: Number.isNaN(began) ? now : began - timeOfDay + now, unfinished };
}

/**
 * When an Order may be woken for its children: `rollUpInterval` after the last such wake at the earliest, so that a run takes few
 * status writes whatever its size; at once when the last child has finished.
 */
export class RollUpPace {
  /** The last time given, by Order uid; past or future. Bounded by the live Orders. */
  readonly #last = new Map<string, number>();

  /** The time for the wake after a change at `now`. */
  timeFor(uid: string, run: Run, now: number): number {
    const at = this.next(uid, run, now);
    this.#last.set(uid, at);
    return at;
  }

  /** The same time, for a wake that the next ones need not keep a distance from. */
  next(uid: string, run: Run, now: number): number {
    const last = this.#last.get(uid);
    if (last !== undefined && last > now && run.unfinished) return last;
    const spaced = (last ?? Number.NEGATIVE_INFINITY) + rollUpInterval(run.artifacts, now - run.since);
    return run.unfinished ? Math.max(now, spaced) : now;
  }

  forget(uid: string): void {
    this.#last.delete(uid);
  }
}
