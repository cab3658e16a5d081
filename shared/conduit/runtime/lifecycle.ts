/** The state of a process, and its work in flight. */
export interface Lifecycle {
  /** True once `init` is done. */
  ready: boolean;
  /** True from the request to stop. */
  readonly draining: boolean;
  readonly inFlight: number;
  /** Aborted when the time to drain is over. */
  readonly signal: AbortSignal;
  /** Counts work as in flight until it settles. */
  track<T>(work: Promise<T>): Promise<T>;
  drain(): void;
  abort(reason: Error): void;
  /** Resolves with true when nothing is in flight, with false after `ms`. */
  idle(ms: number): Promise<boolean>;
}

export function createLifecycle(ready = false): Lifecycle {
  const control = new AbortController();
  const waiting = new Set<() => void>();
  const state = { ready, draining: false, inFlight: 0 };

  const finished = () => {
    state.inFlight -= 1;
    if (state.inFlight === 0) for (const settle of [...waiting]) settle();
  };

  return {
    get ready() {
      return state.ready;
    },
    set ready(value) {
      state.ready = value;
    },
    get draining() {
      return state.draining;
    },
    get inFlight() {
      return state.inFlight;
    },
    signal: control.signal,
    track(work) {
      state.inFlight += 1;
      return work.finally(finished);
    },
    drain() {
      state.draining = true;
    },
    abort: (reason) => control.abort(reason),
    idle(ms) {
      if (state.inFlight === 0) return Promise.resolve(true);
      return new Promise((resolve) => {
        const end = (idle: boolean) => () => {
          clearTimeout(timer);
          waiting.delete(settle);
          resolve(idle);
        };
        const settle = end(true);
        const timer = setTimeout(end(false), ms);
        waiting.add(settle);
      });
    },
  };
}
