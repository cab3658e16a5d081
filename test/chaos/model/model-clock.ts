import type { Clock } from '#shared/base/async';

interface Timer {
  at: number;
  callback: () => void;
}

const start = Date.parse('2026-01-01T00:00:00Z');

/** Time that passes when the test says so. Each machine has a clock of its own, which may be wrong. */
export class ModelClock {
  #ms = start;
  #timers: Timer[] = [];

  /** ms since the epoch. */
  get now(): number {
    return this.#ms;
  }

  /** The clock of one machine. */
  of(skewMs: number): Clock {
    return {
      now: () => this.#ms + skewMs,
      after: (ms, callback) => {
        const timer = { at: this.#ms + Math.max(0, ms), callback };
        this.#timers.push(timer);
        return () => {
          this.#timers = this.#timers.filter((other) => other !== timer);
        };
      },
    };
  }

  /** Lets so much time pass; what becomes due meanwhile happens in its order. */
  pass(ms: number): void {
    const until = this.#ms + ms;
    for (let next = this.#next(); next && next.at <= until; next = this.#next()) {
      this.#timers = this.#timers.filter((other) => other !== next);
      this.#ms = Math.max(this.#ms, next.at);
      next.callback();
    }
    this.#ms = until;
  }

  /** ms until the next thing is due. */
  get untilNext(): number {
    const next = this.#next();
    return next ? Math.max(0, next.at - this.#ms) : Number.POSITIVE_INFINITY;
  }

  #next(): Timer | undefined {
    return this.#timers.reduce<Timer | undefined>(
      (first, timer) => (first === undefined || timer.at < first.at ? timer : first),
      undefined,
    );
  }
}
