import type { Clock } from '#shared/async';
import type { Waking } from '#shared/domain';
import type { KubeObject } from '#shared/meta';
import { Waker } from '../../../functions/watch-bridge/waker.ts';
import { trimmed } from '../../../functions/watch-bridge/watches/watches.ts';
import type { FakeApi } from '../../../shared/kube/testing/fake-api/fake-api.ts';

const watched = [
  'Order',
  'ArtifactWorkflow',
  'ArtifactType',
  'ClusterArtifactType',
  'Endpoint',
  'Workflow',
  'CronWorkflow',
  'WorkflowTemplate',
  'ClusterWorkflowTemplate',
  'ServiceAccount',
];

interface Seen {
  kind: string;
  before: KubeObject | undefined;
  after: KubeObject | undefined;
}

/** The bridge's own decisions over watches that are as late as the test wants, each kind for itself. */
export class ModelBridge {
  readonly #kube: FakeApi;
  readonly #clock: Clock;
  #waker: Waker;
  /** Kinds that have not been listed since the last start, in the order of their lists. */
  #unlisted: string[] = [];
  /** What the watch of each kind has not brought yet. */
  readonly #watches = new Map<string, Seen[]>();
  /** Wakes to be sent, by object and reason; the latest wins. */
  readonly #pending = new Map<string, { waking: Waking; at: number }>();

  constructor(kube: FakeApi, clock: Clock) {
    this.#kube = kube;
    this.#clock = clock;
    this.#waker = this.#start(0);
    kube.listen(({ object, before, after }) => {
      this.#watches.get(object.kind)?.push({
        kind: object.kind,
        before: before && trimmed(before),
        after: after && trimmed(after),
      });
    });
  }

  get unsettled(): number {
    return this.#waker.unsettled;
  }

  /** Forgets everything and lists every kind again, in an order that `turn` chooses. Wakes that were not sent are lost. */
  restart(turn: number): void {
    this.#waker.close();
    this.#pending.clear();
    this.#waker = this.#start(turn);
  }

  /** Lists one kind, or takes one change from one watch. False if there is nothing new to see. */
  observe(choice: number): boolean {
    const busy = [...this.#watches.values()].filter((watch) => watch.length > 0);
    // A watch may bring changes while other kinds are still being listed.
    const kind = busy.length > 0 && choice % 2 === 0 ? undefined : this.#unlisted.shift();
    if (kind !== undefined) {
      this.#watches.set(kind, []);
      for (const object of this.#kube.all())
        if (object.kind === kind) this.#waker.change({ kind, after: trimmed(object) });
      if (this.#unlisted.length === 0) void this.#waker.synced();
      return true;
    }
    const seen = busy[choice % busy.length]?.shift();
    if (seen === undefined) return false;
    this.#waker.change(seen);
    return true;
  }

  /** Takes one wake that is due, to send it. */
  send(choice: number): Waking | undefined {
    const now = this.#clock.now();
    const due = [...this.#pending].filter(([, { at }]) => at <= now);
    const [key, wake] = due[choice % due.length] ?? [];
    if (key !== undefined) this.#pending.delete(key);
    return wake?.waking;
  }

  #start(turn: number): Waker {
    this.#watches.clear();
    const at = turn % watched.length;
    const turned = [...watched.slice(at), ...watched.slice(0, at)];
    this.#unlisted = turn % 2 === 0 ? turned : turned.reverse();
    return new Waker({
      clock: this.#clock,
      random: () => 0.5,
      send: (waking, _observed, { at: when = 0 }) => this.#offer(waking, when),
      forget: (uid) => {
        for (const key of this.#pending.keys()) if (key.startsWith(`${uid}/`)) this.#pending.delete(key);
      },
      foundWork: () => undefined,
    });
  }

  #offer(waking: Waking, when: number): void {
    const key = `${waking.target.uid}/${waking.reason}`;
    const before = this.#pending.get(key);
    const at = Math.min(Math.max(when, this.#clock.now()), before?.at ?? Number.POSITIVE_INFINITY);
    this.#pending.set(key, { waking, at });
    // So that the clock does not pass over it.
    this.#clock.after(at - this.#clock.now(), () => undefined);
  }
}
