import { type Clock, DelayQueue } from '#shared/async';
import { patienceMs } from '#shared/domain';
import type { KubeObject } from '#shared/meta';

/** The last look comes just before the end of the time for which artifacts wait, another one in its midst: the broker may lose one. */
const lastLookMs = patienceMs - 1_000;
const betweenMs = lastLookMs / 2;

interface Look {
  object: KubeObject;
  /** There are looks until this time, ms since the epoch. */
  until: number;
}

/**
 * More looks, while artifacts wait, at each object that lacks something nobody watches: the Secret of an Endpoint, Argo itself, a policy that
 * lets a Workflow pass. What comes just after it was missed would else be found a minute later, when the artifacts are Invalid.
 */
export class SecondLooks {
  readonly #clock: Clock;
  readonly #queue: DelayQueue<Look>;
  /** By uid, what it lacked when it had its looks, or is about to. */
  readonly #lacks = new Map<string, string>();

  constructor(clock: Clock, look: (object: KubeObject) => void) {
    this.#clock = clock;
    this.#queue = new DelayQueue(clock, (uid, { object, until }) => {
      const next = clock.now() + betweenMs;
      if (next <= until) this.#queue.set(uid, next, { object, until });
      look(object);
    });
  }

  /** Takes the newest state of an object, and what it lacks. */
  update(object: KubeObject, lacks: string | undefined): void {
    const { uid = '' } = object.metadata;
    if (lacks === undefined) this.forget(uid);
    else if (this.#lacks.get(uid) !== lacks) this.begin(object, lacks);
  }

  /** Something begins to wait for what the object may have lacked for long. A look that is planned stays so. */
  begin(object: KubeObject, lacks: string): void {
    const { uid = '' } = object.metadata;
    const now = this.#clock.now();
    this.#lacks.set(uid, lacks);
    this.#queue.set(uid, this.#queue.at(uid) ?? now + betweenMs, { object, until: now + lastLookMs });
  }

  forget(uid: string): void {
    this.#queue.delete(uid);
    this.#lacks.delete(uid);
  }

  close(): void {
    this.#queue.close();
  }
}
