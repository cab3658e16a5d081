import { type Clock, DelayQueue } from '#shared/async';
import { type Endpoint, patienceMs } from '#shared/domain';

/** True for an Endpoint whose Secret track-credentials has looked for, and never found. */
export function isSecretMissing({ metadata, spec, status }: Endpoint): boolean {
  const isSeen = status?.observedGeneration === metadata.generation;
  return isSeen && spec.secretRef !== undefined && status?.secretGeneration === undefined;
}

/** The last look comes just before the end of the time for which artifacts wait, another one in its midst: the broker may lose one. */
const lastLookMs = patienceMs - 1_000;
const betweenMs = lastLookMs / 2;

interface Look {
  endpoint: Endpoint;
  /** There are looks until this time, ms since the epoch. */
  until: number;
}

/**
 * More looks, while its artifacts wait, at each Endpoint whose Secret is missing. Where Secrets are not watched, one that is applied just
 * after its Endpoint would else be found a minute later, when the artifacts are Invalid.
 */
export class SecondLooks {
  readonly #clock: Clock;
  readonly #queue: DelayQueue<Look>;
  /** By uid, the generation that had its looks, or is about to. */
  readonly #generations = new Map<string, number | undefined>();

  constructor(clock: Clock, look: (endpoint: Endpoint) => void) {
    this.#clock = clock;
    this.#queue = new DelayQueue(clock, (uid, { endpoint, until }) => {
      const next = clock.now() + betweenMs;
      if (next <= until) this.#queue.set(uid, next, { endpoint, until });
      look(endpoint);
    });
  }

  /** Takes the newest state of an Endpoint. */
  update(endpoint: Endpoint): void {
    const { uid = '', generation } = endpoint.metadata;
    if (!isSecretMissing(endpoint)) this.forget(uid);
    else if (!this.#generations.has(uid) || this.#generations.get(uid) !== generation) this.begin(endpoint);
  }

  /** Something begins to wait for the Secret of the Endpoint, which may have been missing for long. A look that is planned stays so. */
  begin(endpoint: Endpoint): void {
    if (!isSecretMissing(endpoint)) return;
    const { uid = '', generation } = endpoint.metadata;
    const now = this.#clock.now();
    this.#generations.set(uid, generation);
    this.#queue.set(uid, this.#queue.at(uid) ?? now + betweenMs, { endpoint, until: now + lastLookMs });
  }

  forget(uid: string): void {
    this.#queue.delete(uid);
    this.#generations.delete(uid);
  }

  close(): void {
    this.#queue.close();
  }
}
