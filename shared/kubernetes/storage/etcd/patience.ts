/** Enough to notice that etcd answers again, ms. */
const leastMs = 500;

/**
 * How long calls wait for an etcd that is away: all of them together as long as one may. A request of a client makes several calls, one after the
 * other, and each would wait for its whole timeout again.
 */
export class Patience {
  readonly #timeoutMs: number;
  /** When the first call began that got no answer, of performance.now(); undefined since the last answer. */
  #awaySince: number | undefined;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** ms that a call may take that begins now. */
  get left(): number {
    if (this.#awaySince === undefined) return this.#timeoutMs;
    const rest = this.#timeoutMs - (performance.now() - this.#awaySince);
    return Math.min(this.#timeoutMs, Math.max(leastMs, rest));
  }

  answered(): void {
    this.#awaySince = undefined;
  }

  /** @param began of performance.now() */
  unanswered(began: number): void {
    this.#awaySince ??= began;
  }
}
