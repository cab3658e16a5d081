interface Waiter {
  revision: number;
  resolve: (arrived: boolean) => void;
}

/** How long, in ms, a read waits until the cache has the revision it needs: as long as in kube-apiserver. */
const freshnessTimeoutMs = 3000;
/** Between requests for progress while a read waits, in ms. */
const askEvery = 100;

/** Those who wait until a follower of the store has the events up to a revision. */
export class Freshness {
  readonly #askForProgress: () => void;
  readonly #waiters = new Set<Waiter>();
  #timer: NodeJS.Timeout | undefined;

  /** `askForProgress`: where nothing happens under the watched prefix, only the answer to this shows that. */
  constructor(askForProgress: () => void) {
    this.#askForProgress = askForProgress;
  }

  /** Resolves with false if it takes more than 3 s or `signal` is aborted. */
  wait(revision: number, signal: AbortSignal | undefined): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiter = { revision, resolve };
    const giveUp = () => resolve(false);
    const timer = setTimeout(giveUp, freshnessTimeoutMs);
    signal?.addEventListener('abort', giveUp);
    this.#waiters.add(waiter);
    this.#timer ??= setInterval(this.#askForProgress, askEvery);
    this.#askForProgress();
    return promise.finally(() => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', giveUp);
      this.#waiters.delete(waiter);
      if (this.#waiters.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    });
  }

  /** The follower has everything up to `revision`. */
  arrived(revision: number): void {
    for (const waiter of this.#waiters) if (waiter.revision <= revision) waiter.resolve(true);
  }
}

/** A question of which callers at the same time share one answer. */
export class SharedQuestion<T> {
  readonly #ask: () => Promise<T>;
  #running: Promise<T> | undefined;
  #next: Promise<T> | undefined;

  constructor(ask: () => Promise<T>) {
    this.#ask = ask;
  }

  /** True while an answer is awaited. */
  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** The answer to a question that is asked after this call: what is under way may have been answered before it. */
  answer(): Promise<T> {
    const start = () => this.run(this.#ask());
    if (!this.#running) return start();
    this.#next ??= this.#running.then(start, start);
    return this.#next;
  }

  /** Has those who ask meanwhile wait until `running` is over, and then share one question. */
  run<R extends T>(running: Promise<R>): Promise<R> {
    this.#next = undefined;
    const one = running.finally(() => {
      if (this.#running === one) this.#running = undefined;
    });
    this.#running = one;
    return one;
  }
}
