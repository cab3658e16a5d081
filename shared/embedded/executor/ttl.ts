import type { WorkflowSpec, WorkflowStatus } from './workflow.ts';

/** When a completed Workflow is to be deleted by its ttlStrategy, in milliseconds of the epoch; undefined: never. */
export function dueTime(
  spec: Pick<WorkflowSpec, 'ttlStrategy'>,
  status: WorkflowStatus | undefined,
): number | undefined {
  const strategy = spec.ttlStrategy;
  if (!strategy || !status?.finishedAt) return undefined;
  const own = status.phase === 'Succeeded' ? strategy.secondsAfterSuccess : strategy.secondsAfterFailure;
  const seconds = own ?? strategy.secondsAfterCompletion;
  return seconds === undefined ? undefined : Date.parse(status.finishedAt) + seconds * 1000;
}

/** Things that are due at a time, over one timer whatever their number. */
export interface Agenda {
  set(id: string, due: number): void;
  delete(id: string): void;
  close(): void;
}

/** setTimeout counts in 32 bits. */
const longestWaitMs = 2 ** 31 - 1;

/** `run` gets the ids that are due, each once, in one call. */
export function createAgenda(run: (ids: string[]) => void, now: () => number = Date.now): Agenda {
  const dues = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let next = Number.POSITIVE_INFINITY;

  const arm = (due: number) => {
    if (due >= next) return;
    clearTimeout(timer);
    next = due;
    timer = setTimeout(fire, Math.min(longestWaitMs, Math.max(0, due - now())));
  };
  const fire = () => {
    next = Number.POSITIVE_INFINITY;
    const at = now();
    const ripe = [...dues].filter(([, due]) => due <= at).map(([id]) => id);
    for (const id of ripe) dues.delete(id);
    let earliest = Number.POSITIVE_INFINITY;
    for (const due of dues.values()) earliest = Math.min(earliest, due);
    if (earliest < Number.POSITIVE_INFINITY) arm(earliest);
    if (ripe.length > 0) run(ripe);
  };
  return {
    set(id, due) {
      dues.set(id, due);
      arm(due);
    },
    delete: (id) => void dues.delete(id),
    close: () => clearTimeout(timer),
  };
}
