/** Minimum timeout, which suffices to notice that etcd answers again; ms. */
const leastMs = 500;

/**
 * The timeout of calls to an etcd that is away, shared by all calls since it went: a client's request makes several calls in sequence, and each
 * would wait for its whole timeout again.
 */
export class SharedTimeout {
  readonly #timeoutMs: number;
  /** When the first unanswered call began, by performance.now(); undefined after an answer. */
  #awaySince: number | undefined;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** Timeout of a call that begins now, ms. */
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
