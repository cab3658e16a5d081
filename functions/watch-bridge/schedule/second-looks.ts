import { type Clock, DelayQueue } from '#shared/async';
import { type Endpoint, patienceMs } from '#shared/domain';

/** True for an Endpoint whose Secret track-credentials has looked for, and never found. */
export function isSecretMissing({ metadata, spec, status }: Endpoint): boolean {
  const isSeen = status?.observedGeneration === metadata.generation;
  return isSeen && spec.secretRef !== undefined && status?.secretGeneration === undefined;
}

/**
 * One more look, after half of the time for which its artifacts wait, at each Endpoint whose Secret is missing. Where Secrets are not
 * watched, one that is applied just after its Endpoint would else be found a minute later, when the artifacts are Invalid.
 */
export class SecondLooks {
  readonly #clock: Clock;
  readonly #queue: DelayQueue<Endpoint>;
  /** By uid, the generation that had its look, or is about to. */
  readonly #generations = new Map<string, number | undefined>();

  constructor(clock: Clock, look: (endpoint: Endpoint) => void) {
    this.#clock = clock;
    this.#queue = new DelayQueue(clock, (_uid, endpoint) => look(endpoint));
  }

  /** Takes the newest state of an Endpoint. */
  update(endpoint: Endpoint): void {
    const { uid = '', generation } = endpoint.metadata;
    if (!isSecretMissing(endpoint)) {
      this.forget(uid);
      return;
    }
    if (this.#generations.has(uid) && this.#generations.get(uid) === generation) return;
    this.#generations.set(uid, generation);
    this.#queue.set(uid, this.#clock.now() + patienceMs / 2, endpoint);
  }

  forget(uid: string): void {
    this.#queue.delete(uid);
    this.#generations.delete(uid);
  }

  close(): void {
    this.#queue.close();
  }
}
