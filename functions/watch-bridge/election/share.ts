/** A replica waits so long before it takes a further Lease that is free, ms: one that leads less has looked at it by then. */
const patienceMs = 2_500;

/**
 * What one replica leads, of Leases for which all replicas stand: it leaves a free one to replicas that lead less, and takes it if none does. One
 * that leads two fewer than another asks that one for a Lease, so that they come to lead as many each, whoever was there first.
 */
export class Share {
  readonly #identity: string;
  readonly #most: number;
  /** Leases that it holds or is about to take. */
  #held = 0;
  /** The last observed holder of each Lease. */
  readonly #holders = new Map<string, string>();
  #asked: string | undefined;

  /** @param most it never holds more Leases than this */
  constructor(identity: string, most = Number.POSITIVE_INFINITY) {
    this.#identity = identity;
    this.#most = most;
  }

  /** True if it may take a Lease that has been free for so long; then it counts as held, until `give`. */
  take(freeMs: number): boolean {
    if (this.isFull) return false;
    if (this.#held > 0 && freeMs < Math.min(this.#held, 2) * patienceMs) return false;
    this.#held += 1;
    return true;
  }

  give(): void {
    this.#held -= 1;
  }

  /** True if it may not hold another Lease. */
  get isFull(): boolean {
    return this.#held >= this.#most;
  }

  observe(lease: string, holder: string): void {
    this.#holders.set(lease, holder);
  }

  /** True if it should ask the holder for this Lease. It asks for one at a time. */
  asksFor(lease: string): boolean {
    if (this.#asked !== undefined && this.#asked !== lease && this.#wants(this.#asked)) return false;
    this.#asked = this.#wants(lease) ? lease : undefined;
    return this.#asked === lease;
  }

  /** True if it can do without one of its Leases when another asks for it. */
  get canSpare(): boolean {
    return this.#held > 1;
  }

  /** True if the holder of a Lease leads so many that this replica should have one of them. */
  #wants(lease: string): boolean {
    const holder = this.#holders.get(lease);
    if (holder === undefined || holder === '' || holder === this.#identity) return false;
    const theirs = [...this.#holders.values()].filter((one) => one === holder).length;
    return this.#held < this.#most && theirs >= this.#held + 2;
  }
}
