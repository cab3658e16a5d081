interface Waiter {
  revision: number;
  resolve: (arrived: boolean) => void;
}

/** Milliseconds for which a read waits until the cache reaches a revision, as in kube-apiserver. */
const freshnessTimeoutMs = 3000;
/** Interval of progress requests while reads wait, in milliseconds. */
const progressRequestInterval = 100;

/** Waits until a watch of the store has delivered all events up to a revision. */
export class Freshness {
  readonly #requestProgress: () => void;
  readonly #waiters = new Set<Waiter>();
  #timer: NodeJS.Timeout | undefined;

  /** @param requestProgress advances the watch when no event occurs under its prefix */
  constructor(requestProgress: () => void) {
    this.#requestProgress = requestProgress;
  }

  /** Resolves with false after 3 s or when `signal` is aborted. */
  wait(revision: number, signal: AbortSignal | undefined): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiter = { revision, resolve };
    const giveUp = () => resolve(false);
    const timer = setTimeout(giveUp, freshnessTimeoutMs);
    signal?.addEventListener('abort', giveUp);
    this.#waiters.add(waiter);
    this.#timer ??= setInterval(this.#requestProgress, progressRequestInterval);
    this.#requestProgress();
    return promise.finally(() => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', giveUp);
      this.#waiters.delete(waiter);
      if (this.#waiters.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    });
  }

  /** Reports that the watch has reached `revision`. */
  advance(revision: number): void {
    for (const waiter of this.#waiters) if (waiter.revision <= revision) waiter.resolve(true);
  }
}

/** A call whose result concurrent callers share. */
export class SharedCall<T> {
  readonly #call: () => Promise<T>;
  #running: Promise<T> | undefined;
  #next: Promise<T> | undefined;

  constructor(call: () => Promise<T>) {
    this.#call = call;
  }

  /** True while a call is in flight. */
  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Returns the result of a call that starts after this invocation: the result of a call in flight may be older. */
  result(): Promise<T> {
    const start = () => this.run(this.#call());
    if (!this.#running) return start();
    this.#next ??= this.#running.then(start, start);
    return this.#next;
  }

  /** Runs a call; callers that arrive in the meantime wait for it and then share the next call. */
  run<R extends T>(running: Promise<R>): Promise<R> {
    this.#next = undefined;
    const current = running.finally(() => {
      if (this.#running === current) this.#running = undefined;
    });
    this.#running = current;
    return current;
  }
}
