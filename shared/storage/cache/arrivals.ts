interface Waiter {
  revision: number;
  resolve: (arrived: boolean) => void;
}

/** ms a read waits for memory to come to the revision it needs; as long as kube-apiserver waits. */
const patience = 3000;
/** ms between the questions for progress while somebody waits. */
const askEvery = 100;

/** The reads that wait until the events up to their revision have arrived in memory. */
export class Arrivals {
  readonly #askForProgress: () => void;
  readonly #waiters = new Set<Waiter>();
  #timer: NodeJS.Timeout | undefined;

  /** `askForProgress`: nothing may happen under the watched prefix, and then only an answer to this says so. */
  constructor(askForProgress: () => void) {
    this.#askForProgress = askForProgress;
  }

  /** Resolves with false if it takes more than 3 s or `signal` is aborted. */
  wait(revision: number, signal: AbortSignal | undefined): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiter = { revision, resolve };
    const giveUp = () => resolve(false);
    const timer = setTimeout(giveUp, patience);
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

  /** Everything up to `revision` is in memory. */
  arrived(revision: number): void {
    for (const waiter of this.#waiters) if (waiter.revision <= revision) waiter.resolve(true);
  }
}
