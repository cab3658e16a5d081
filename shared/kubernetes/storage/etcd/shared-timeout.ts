/** Minimum timeout in milliseconds, which suffices to detect that etcd has recovered. */
const minTimeoutMs = 500;

/**
 * The timeout of calls, shared by all calls while etcd is unavailable: a client request makes several calls in sequence, each of which would
 * otherwise wait for the full timeout.
 */
export class SharedTimeout {
  readonly #timeoutMs: number;
  /** Start of the first unanswered call in terms of performance.now(); undefined after a response. */
  #unavailableSince: number | undefined;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** Timeout of a call that begins now, in milliseconds. */
  get left(): number {
    if (this.#unavailableSince === undefined) return this.#timeoutMs;
    const rest = this.#timeoutMs - (performance.now() - this.#unavailableSince);
    return Math.min(this.#timeoutMs, Math.max(minTimeoutMs, rest));
  }

  answered(): void {
    this.#unavailableSince = undefined;
  }

  /** @param began start of the call in terms of performance.now() */
  unanswered(began: number): void {
    this.#unavailableSince ??= began;
  }
}
