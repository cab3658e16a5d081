import type { Clock } from '#shared/base/async';
import type { KubeObject } from '#shared/base/meta';
import { createLogger } from '#shared/base/telemetry';
import type { StepEvent } from '#shared/conduit/events';
import { type Announced, hasDuties, isDue, type Step, wholeShard } from '#shared/domain';
import { Announcer } from '../../../functions/watch-bridge/delivery/announcer.ts';
import type { HttpMessage } from '../../../functions/watch-bridge/delivery/delivery.ts';
import type { Outcome } from '../../../functions/watch-bridge/delivery/queue.ts';
import type { DueEvent } from '../../../functions/watch-bridge/duties/agenda.ts';
import { Dispatcher } from '../../../functions/watch-bridge/duties/dispatcher.ts';
import { changeOf } from '../../../functions/watch-bridge/duties/neighbours.ts';
import type { Observed } from '../../../functions/watch-bridge/view/kept.ts';
import type { FakeApi } from '../../../shared/kubernetes/client/testing/fake-api/fake-api.ts';

const observed = [
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
  'ConfigMap',
];

interface Seen {
  before: KubeObject | undefined;
  after: KubeObject | undefined;
}

/** Where domain events go, and where what was announced is recorded. */
export interface Outside {
  hear(message: HttpMessage): Outcome;
  record(object: Announced, announced: string): Promise<unknown>;
}

const silent = createLogger({ name: 'model', level: 'silent' });

/** The bridge's own decisions over watches that are as late as the test wants, each kind for itself. */
export class ModelBridge {
  readonly #kube: FakeApi;
  readonly #clock: Clock;
  readonly #outside: Outside;
  #dispatcher: Dispatcher;
  #announcer: Announcer;
  /** Kinds that have not been listed since the last start, in the order of their lists. */
  #unlisted: string[] = [];
  /** What the watch of each kind has not brought yet. */
  readonly #watches = new Map<string, Seen[]>();
  /** Events to be sent, by object and step; the latest wins. */
  readonly #pending = new Map<string, { event: DueEvent; at: number }>();

  constructor(kube: FakeApi, clock: Clock, outside: Outside) {
    this.#kube = kube;
    this.#clock = clock;
    this.#outside = outside;
    this.#dispatcher = this.#start(0);
    this.#announcer = this.#startAnnouncer();
    kube.listen(({ object, before, after }) => {
      this.#watches.get(object.kind)?.push({ before, after });
    });
  }

  /** Duties that are due. */
  get due(): number {
    return this.#dispatcher.agenda.due;
  }

  /** Domain events that are not delivered yet. */
  get unannounced(): number {
    return this.#announcer.pending;
  }

  /** What a sweep finds to be due. */
  dueNow(): { object: KubeObject; step: Step; why: string }[] {
    const now = new Date(this.#clock.now());
    return [...this.#dispatcher.view.objects()].filter(hasDuties).flatMap((object) =>
      this.#dispatcher
        .dutiesOf(object)
        .filter((duty) => isDue(duty, now))
        .map(({ step, why }) => ({ object, step, why })),
    );
  }

  /** Drops the events of all duties; those of looks stay. */
  dropDuties(): void {
    for (const [key, { event }] of this.#pending) if (!event.isLook) this.#pending.delete(key);
  }

  /** True if everything that there is has been seen, and looked at. */
  get isUpToDate(): boolean {
    return (
      this.#unlisted.length === 0 &&
      this.#dispatcher.looks === 0 &&
      [...this.#watches.values()].every((watch) => watch.length === 0)
    );
  }

  /** True if a step of an object is to be done later, or is a look at what nobody may watch. */
  isPlanned(object: KubeObject, step: Step): boolean {
    const seen = this.#dispatcher.view.object(object.metadata.uid ?? '');
    const found = seen === undefined || !hasDuties(seen) ? [] : this.#dispatcher.dutiesOf(seen);
    return found.some((duty) => duty.step === step);
  }

  /** Forgets everything and lists every kind again, in an order that `turn` chooses. Events that were not sent are lost. */
  restart(turn: number): void {
    this.#dispatcher.close();
    this.#pending.clear();
    void this.#announcer.close();
    this.#dispatcher = this.#start(turn);
    this.#announcer = this.#startAnnouncer();
  }

  /** Lists one kind, or takes one change from one watch. False if there is nothing new to see. */
  observe(choice: number): boolean {
    const busy = [...this.#watches.values()].filter((watch) => watch.length > 0);
    // A watch may bring changes while other kinds are still being listed.
    const kind = busy.length > 0 && choice % 2 === 0 ? undefined : this.#unlisted.shift();
    if (kind !== undefined) {
      this.#watches.set(kind, []);
      for (const object of this.#kube.all())
        if (object.kind === kind) this.#change({ before: undefined, after: object });
      if (this.#unlisted.length === 0) {
        this.#announcer.synced();
        void this.#dispatcher.synced();
      }
      return true;
    }
    const seen = busy[choice % busy.length]?.shift();
    if (seen === undefined) return false;
    this.#change(seen);
    return true;
  }

  #change({ before, after }: Seen): void {
    const kept = (object: KubeObject | undefined) => object && this.#dispatcher.keep(object as Observed);
    const change = changeOf(kept(before), kept(after));
    if (change === undefined) return;
    this.#dispatcher.change(change);
    this.#announcer.change(change);
  }

  /** Takes one event that is due, to send it. */
  send(choice: number): StepEvent | undefined {
    const now = this.#clock.now();
    const due = [...this.#pending].filter(([, { at }]) => at <= now);
    const [key, found] = due[choice % due.length] ?? [];
    if (key === undefined || found === undefined) return undefined;
    const { object, step, why } = found.event;
    this.#pending.delete(key);
    this.#dispatcher.agenda.started(key, found.event);
    this.#dispatcher.agenda.ended(key);
    const { apiVersion, kind, metadata } = object;
    const { name, namespace = '', uid = '' } = metadata;
    return { apiVersion, kind, name, namespace, uid, step, reason: why };
  }

  #start(turn: number): Dispatcher {
    this.#watches.clear();
    const at = turn % observed.length;
    const turned = [...observed.slice(at), ...observed.slice(0, at)];
    this.#unlisted = turn % 2 === 0 ? turned : turned.reverse();
    return new Dispatcher({
      clock: this.#clock,
      random: () => 0.5,
      outbox: {
        offer: (key, event, at) => this.#offer(key, event, at),
        forget: (key) => void this.#pending.delete(key),
      },
    });
  }

  /** One that was replaced sends and records nothing any more: its process was killed. */
  #startAnnouncer(): Announcer {
    const dispatcher = this.#dispatcher;
    const isAlive = () => this.#dispatcher === dispatcher;
    return new Announcer({
      view: dispatcher.view,
      shard: wholeShard,
      clock: this.#clock,
      timeOfDay: this.#clock,
      random: () => 0.5,
      log: silent,
      metrics: { announced: () => undefined },
      deliver: async (message) =>
        isAlive() ? this.#outside.hear(message) : { result: 'transient', reason: 'killed' },
      record: async (object, announced) => (isAlive() ? this.#outside.record(object, announced) : undefined),
      isBusy: (uid) => dispatcher.agenda.isBusy(uid),
    });
  }

  #offer(key: string, event: DueEvent, when: number): void {
    const before = this.#pending.get(key);
    const at = Math.min(Math.max(when, this.#clock.now()), before?.at ?? Number.POSITIVE_INFINITY);
    this.#pending.set(key, { event, at });
    // So that the clock does not pass over it.
    this.#clock.after(at - this.#clock.now(), () => undefined);
  }
}
