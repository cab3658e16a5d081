import type { Clock } from './clock.ts';

/** A clock for tests: time stands still until `advance`, which runs what falls due on the way, in order. */
export class FakeClock implements Clock {
  #now = 0;
  readonly #timers = new Map<number, { at: number; callback: () => void }>();
  #next = 0;

  now(): number {
    return this.#now;
  }

  after(ms: number, callback: () => void): () => void {
    const id = this.#next++;
    this.#timers.set(id, { at: this.#now + Math.max(0, ms), callback });
    return () => this.#timers.delete(id);
  }

  advance(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const first = [...this.#timers].filter(([, t]) => t.at <= end).sort((a, b) => a[1].at - b[1].at)[0];
      if (first === undefined) break;
      const [id, timer] = first;
      this.#timers.delete(id);
      this.#now = timer.at;
      timer.callback();
    }
    this.#now = end;
  }
}
