/** A replica waits this long before it takes another free Lease, ms: enough for a replica that leads fewer to see the Lease. */
const takeDelayMs = 2_500;

/**
 * The Leases of one replica, among Leases for which all replicas compete: it leaves a free Lease to replicas that lead fewer, and takes it if
 * none does. A replica that leads at least two fewer than another asks that one for a Lease, so that the numbers even out, whoever was first.
 */
export class Share {
  readonly #identity: string;
  readonly #most: number;
  /** Leases that it holds or is about to take. */
  #held = 0;
  /** The last observed holder of each Lease. */
  readonly #holders = new Map<string, string>();
  #asked: string | undefined;

  /** @param most the largest number of Leases it holds */
  constructor(identity: string, most = Number.POSITIVE_INFINITY) {
    this.#identity = identity;
    this.#most = most;
  }

  /** Returns true if it may take a Lease that has been free for this long; the Lease then counts as held until `give`. */
  take(freeMs: number): boolean {
    if (this.isFull) return false;
    if (this.#held > 0 && freeMs < Math.min(this.#held, 2) * takeDelayMs) return false;
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

  /** Returns true if it should ask the holder for this Lease. It asks for one Lease at a time. */
  asksFor(lease: string): boolean {
    if (this.#asked !== undefined && this.#asked !== lease && this.#wants(this.#asked)) return false;
    this.#asked = this.#wants(lease) ? lease : undefined;
    return this.#asked === lease;
  }

  /** True if it can cede a Lease when another replica asks. */
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
