import type { KubeClient } from '#shared/kubernetes/client';

/** One call to the API that waits for its turn. */
interface Call {
  owner: object;
  isWrite: boolean;
  run(): Promise<void>;
  drop(): void;
}

const writing = new Set(['create', 'replace', 'mergePatch', 'delete']);

/** What a handler meets whose process has been killed: nothing that it does from then on has an effect. */
export class Killed extends Error {
  override readonly name = 'Killed';
}

/**
 * Calls to one API by many handlers, each executed whole and alone when it is given its turn: the order of turns is the
 * only concurrency there is, so that a test decides it.
 */
export class Turns {
  readonly #api: KubeClient;
  readonly #killed = new WeakSet<object>();
  #calls: Call[] = [];
  /** Called after each call that has been executed. */
  onCall: (call: { owner: object; isWrite: boolean }) => void = () => undefined;

  constructor(api: KubeClient) {
    this.#api = api;
  }

  get waiting(): number {
    return this.#calls.length;
  }

  /** The API for one handler. */
  clientOf(owner: object): KubeClient {
    return new Proxy(this.#api, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== 'function') return method;
        return (...args: unknown[]) => this.#wait(owner, String(name), () => method.apply(target, args));
      },
    });
  }

  /** Nothing that `owner` has not done yet will be done; with `late`, but for the writes that are on their way. */
  kill(owner: object, late = false): void {
    this.#killed.add(owner);
    const [dropped, kept] = [this.#of(owner, true), this.#of(owner, false)];
    this.#calls = [...kept, ...dropped.filter(({ isWrite }) => late && isWrite)];
    for (const call of dropped) call.drop();
  }

  /** Executes one of the waiting calls. */
  async take(index: number): Promise<void> {
    const [call] = this.#calls.splice(index % this.#calls.length, 1);
    await call?.run();
    // Lets whoever waited for it go on to the next call.
    await new Promise((resolve) => setImmediate(resolve));
  }

  #of(owner: object, his: boolean): Call[] {
    return this.#calls.filter((call) => (call.owner === owner) === his);
  }

  #wait(owner: object, name: string, execute: () => Promise<unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const drop = () => reject(new Killed());
      if (this.#killed.has(owner)) return drop();
      const run = async () => {
        const answer = await execute().then(
          (value) => () => resolve(value),
          (caught: unknown) => () => reject(caught),
        );
        this.onCall({ owner, isWrite: writing.has(name) });
        if (this.#killed.has(owner)) drop();
        else answer();
      };
      this.#calls.push({ owner, isWrite: writing.has(name), run, drop });
    });
  }
}
