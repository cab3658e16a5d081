import { ArcError } from '#shared/base/errors';
import { isoSeconds, type KubeObject } from '#shared/base/meta';
import { announcements } from '#shared/conduit/events';
import { settingsMap } from '#shared/conduit/function-kit';
import type { StepEvent } from '#shared/conduit/runtime';
import {
  type Announced,
  artifactWorkflows,
  isAnnounced,
  isDeleting,
  type Order,
  orderExpiry,
  orders,
  type Ref,
  stepNames,
  workflows,
} from '#shared/domain';
import type { Outcome } from '../../../functions/watch-bridge/delivery/queue.ts';
import { functions } from '../../../scripts/standalone/functions.ts';
import { contextOf, eventOf } from '../../../shared/conduit/runtime/testing/handler-context.ts';
import { FakeApi } from '../../../shared/kubernetes/client/testing/fake-api/fake-api.ts';
import { Argo } from './argo.ts';
import { directClient } from './direct-client.ts';
import { liesOf } from './lies.ts';
import type { Limits } from './limits.ts';
import { ModelBridge } from './model-bridge.ts';
import { ModelClock } from './model-clock.ts';
import { subscribersOf } from './triggers.ts';
import { Killed, Turns } from './turns.ts';

/** An event on its way from the broker to one function. */
interface Delivery {
  name: string;
  event: StepEvent;
  attempt: number;
  /** ms since the epoch. */
  at: number;
}

/** A delivery under way. */
interface Work {
  delivery: Delivery;
  over: boolean;
}

/** How wrong the clocks are, in ms. */
export interface Skews {
  api: number;
  argo: number;
  bridge: number;
  /** One after the other: each function runs on a machine of its own. */
  functions: readonly number[];
}

/** Probes ask the servers themselves, and there are none here. */
const withoutProbes = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { ...settingsMap },
  data: { 'features.probes': 'off' },
};

const attempts = 8;
const names = Object.keys(functions);

/**
 * The whole conduit: every function, the bridge's decisions, a broker with the Triggers of knative/base, Argo, the garbage collector. They
 * meet only in the API. Nothing happens by itself: the test says what comes next, and time passes when it says so.
 */
export class Conduit {
  readonly kube = new FakeApi();
  readonly client = directClient(this.kube);
  readonly clock = new ModelClock();
  readonly turns = new Turns(this.client);
  readonly argo = new Argo(this.kube, () => this.clock.now);
  readonly bridge: ModelBridge;
  /** What functions said that they must not. */
  readonly failed: string[] = [];
  /** The domain events that subscribers got, those that came again included, with the time. */
  readonly events: { id: string; type: string; subject: string; at: number }[] = [];
  /** Domain events that subscribers got again although the Broker had acknowledged them to this life of the bridge. */
  readonly repeats: string[] = [];
  /** The ids of the domain events whose acknowledgement has reached the bridge since its last start. */
  readonly acknowledged = new Set<string>();
  /** The ids of the events for all that a status has ever shown. */
  readonly milestones = new Set<string>();
  /** What a status said that was not so, at the time. */
  readonly lies: string[] = [];
  /** Somebody has stopped a Workflow: its artifact fails. */
  meddled = false;
  /** How long the slowest function was at work, in ms. */
  slowest = 0;
  /** When something that Orders need was absent or refused; ms since the epoch. */
  readonly troubles: { since: number; until: number }[] = [];
  /** An Order has asked for one place twice, which fails at once. */
  collided = false;
  /** A policy refuses Workflows. */
  refuses = false;
  /** What has ended may have been removed after its time to live. */
  expires = false;
  /** By uid: what people have deleted. */
  readonly removed = new Set<string>();
  /** Orders that were deleted before their time to live was over, or had none. */
  readonly lostEarly: string[] = [];
  /** The Orders as they were before each edit, and before they went. */
  readonly former: Order[] = [];
  /** True: each time that everything rests, every function is asked whether it agrees. Only for clocks that are right. */
  checksRest = false;
  /** True: no event of a duty arrives. What a sweep finds to be due is done, one at a time, and has to change something. */
  bySweep = false;
  /** The bridge was killed: what a status showed meanwhile may have been replaced before anybody saw it. */
  hasRestarted = false;
  readonly limits: Limits;
  readonly #context = contextOf(this.kube);
  readonly #skews: Skews;
  #broker: Delivery[] = [];
  #works: Work[] = [];
  #writes = 0;
  #attempts = 0;
  #losses = 0;
  /** When the broker last lost an event, ms since the epoch. */
  #lostAt = 0;
  /** Something has gone, or been created, since the garbage collector last looked. */
  #isLitterPossible = true;

  constructor(skews: Skews, objects: readonly KubeObject[], limits: Limits = {}) {
    this.#skews = skews;
    this.limits = limits;
    this.argo.skewMs = skews.argo;
    this.#setApiClock();
    for (const object of [...objects, withoutProbes]) this.kube.put(object);
    this.bridge = new ModelBridge(this.kube, this.clock.of(skews.bridge), {
      hear: ({ headers }) => this.#hear(headers),
      record: (object, announced) => this.#record(object, announced),
    });
    this.kube.listen(({ before, after }) => {
      if (!before || !after) this.#isLitterPossible = true;
      if (before?.kind === 'Order') this.#judgeEnd(before as Order, after);
      // Here schedules run more than once in a second, which ids do not show.
      if (after !== undefined && isAnnounced(after) && !('cron' in after.spec))
        for (const id of shownBy(after)) this.milestones.add(id);
      if (after?.kind === 'Order') this.lies.push(...liesOf(this, after as Order, 'then: '));
    });
    this.turns.onCall = ({ isWrite }) => {
      if (isWrite) this.#writes += 1;
    };
    this.kube.before = ({ apiVersion, resource, verb }) => {
      if (apiVersion !== workflows.apiVersion) return;
      // The answer to a path that the server does not know names no object.
      if (!this.argo.installed) throw new ArcError('NotFound', '404 page not found');
      if (this.refuses && verb === 'create' && resource.endsWith('workflows'))
        throw new ArcError('Forbidden', 'the policy of the cluster refuses Workflows');
    };
  }

  pass(ms: number): void {
    this.clock.pass(ms);
    this.#setApiClock();
  }

  /** The time by the clock of the API server: Unix seconds. */
  get apiSeconds(): number {
    return Math.floor((this.clock.now + this.#skews.api) / 1000);
  }

  /** Notes whether Orders can succeed as things are now. */
  note(isWhole: boolean): void {
    const now = this.clock.now;
    const last = this.troubles.at(-1);
    const isOpen = last?.until === Number.POSITIVE_INFINITY;
    if (isOpen && isWhole) last.until = now;
    if (!isOpen && !isWhole) this.troubles.push({ since: now, until: Number.POSITIVE_INFINITY });
  }

  /** The bridge sees something. */
  observe(choice: number): boolean {
    return this.bridge.observe(choice);
  }

  /** The bridge sends something, to each function whose Trigger lets it through. */
  send(choice: number): boolean {
    const event = this.bridge.send(choice);
    if (event === undefined) return false;
    this.#publish(event);
    return true;
  }

  #publish(event: StepEvent): void {
    for (const name of subscribersOf(event.kind, event.step))
      this.#broker.push({ name, event, attempt: 1, at: this.clock.now });
  }

  /** A function is given an event. */
  begin(choice: number): boolean {
    const due = this.#broker.filter(({ at }) => at <= this.clock.now);
    const delivery = due[choice % due.length];
    if (delivery === undefined) return false;
    this.#broker.splice(this.#broker.indexOf(delivery), 1);
    const isLost = this.#losses % 2 === 1;
    this.#losses >>= 1;
    if (isLost) {
      this.#lostAt = this.clock.now;
      return true;
    }
    const work: Work = { delivery, over: false };
    this.#works.push(work);
    void this.#handle(work);
    return true;
  }

  /** The broker loses an event, or delivers it a second time. */
  disturb(choice: number, how: 'lose' | 'double'): void {
    const delivery = this.#broker[choice % this.#broker.length];
    if (delivery === undefined) return;
    if (how === 'double') this.#broker.push({ ...delivery });
    else this.#broker.splice(this.#broker.indexOf(delivery), 1);
  }

  /** Of the deliveries from now on the broker loses those whose bit is set. */
  lose(bits: number): void {
    this.#losses = bits;
  }

  /** A function at work dies; with `late`, one of its requests arrives nevertheless, whenever its turn comes. */
  kill(choice: number, late: boolean): void {
    const work = this.#works[choice % this.#works.length];
    if (work) this.turns.kill(work, late);
  }

  /** One call of a function at work is executed. */
  async take(choice: number): Promise<boolean> {
    if (this.turns.waiting === 0) return false;
    await this.turns.take(choice);
    this.#works = this.#works.filter(({ over }) => !over);
    return true;
  }

  /** Functions at work. */
  get working(): number {
    return this.#works.filter(({ over }) => !over).length;
  }

  /** What has owners of which none is there goes. True if there was something. */
  async collect(): Promise<boolean> {
    if (!this.#isLitterPossible) return false;
    this.#isLitterPossible = false;
    const all = this.kube.all();
    const uids = new Set(all.map(({ metadata }) => metadata.uid));
    let found = false;
    for (const { metadata, kind, apiVersion } of all) {
      const owners = metadata.ownerReferences ?? [];
      if (owners.length === 0 || kind === 'Pod' || owners.some(({ uid }) => uids.has(uid))) continue;
      if (isDeleting({ metadata })) continue;
      await this.client.delete(kindOf(apiVersion, kind), metadata);
      found = true;
    }
    return found;
  }

  /**
   * Everything goes on until nothing has happened for `quietMs`. An event that is lost happens, too: what it would have done is done by the
   * look of the next hour.
   */
  async settle(quietMs = 75 * 60_000): Promise<void> {
    let quietSince = this.clock.now;
    for (let turn = 0; this.clock.now - quietSince < quietMs; turn += 1) {
      if (turn > 20_000) throw new Error('it does not come to rest');
      if (await this.#goOn(30_000)) quietSince = this.clock.now;
      quietSince = Math.max(quietSince, this.#lostAt);
    }
  }

  /**
   * Has every function look at every object, as if all its steps were due, and says which one did something though no duty of the bridge had
   * said so. To be asked while nothing is under way and the bridge has seen everything.
   */
  async unseenWork(): Promise<string[]> {
    if (this.bridge.due > 0 || !this.bridge.isUpToDate || this.working > 0) return [];
    const found: string[] = [];
    const isCounted = ({ resource }: { resource: string }) => resource !== 'events';
    for (const object of this.kube.all()) {
      const called = stepNames.flatMap((step) =>
        subscribersOf(object.kind, step).map((name) => ({ step, name })),
      );
      for (const { step, name } of called) {
        if (this.bridge.isPlanned(object, step)) continue;
        const before = this.kube.writes.filter(isCounted).length;
        const now = new Date(this.clock.now);
        const context = { ...this.#context, now, api: this.client };
        await functions[name]?.handle(context, eventOf(object, step)).catch(() => undefined);
        const writes = this.kube.writes.filter(isCounted).slice(before);
        if (writes.length > 0)
          found.push(
            `${name} had work to do for ${object.kind} ${object.metadata.name}: ${JSON.stringify(writes)}`,
          );
      }
    }
    return found;
  }

  /** Everything goes on for so long. */
  async last(ms: number): Promise<void> {
    const end = this.clock.now + ms;
    while (this.clock.now < end) await this.#goOn(end - this.clock.now);
  }

  /** The next thing happens, or time passes until it can, `longest` ms at most. True if something was changed. */
  async #goOn(longest: number): Promise<boolean> {
    const before = this.#writes;
    if (this.bySweep) this.bridge.dropDuties();
    let busy = this.observe(1) || this.send(0) || this.begin(0);
    busy = (await this.take(0)) || busy;
    if (busy) return this.#writes > before;
    await new Promise((resolve) => setImmediate(resolve));
    if (this.turns.waiting > 0) return false;
    if (this.bySweep && (await this.#sweep())) return true;
    if (this.checksRest) this.lies.push(...(await this.unseenWork()));
    const moved = this.argo.step();
    if ((await this.collect()) || moved) return true;
    this.pass(Math.max(1, Math.min(longest, this.clock.untilNext, this.#untilRetry())));
    return false;
  }

  /** Does the first duty that a sweep finds to be due. True if there was one. */
  async #sweep(): Promise<boolean> {
    if (!this.bridge.isUpToDate || this.working > 0) return false;
    for (const { object, step, why } of this.bridge.dueNow()) {
      const before = this.#countedWrites();
      const now = new Date(this.clock.now);
      const context = { ...this.#context, now, api: this.client };
      for (const name of subscribersOf(object.kind, step))
        await functions[name]?.handle(context, eventOf(object, step));
      if (this.#countedWrites() > before) return true;
      // Pods are not watched: a step that waits for the end of one is repeated.
      const { stopSince } = this.kube.read(artifactWorkflows, object.metadata)?.status ?? {};
      if (object.kind === 'ArtifactWorkflow' && stopSince !== undefined) continue;
      this.lies.push(
        `${step} was due for ${object.kind} ${object.metadata.name}, and changed nothing: ${why}`,
      );
    }
    return false;
  }

  #countedWrites(): number {
    return this.kube.writes.filter(({ resource }) => resource !== 'events').length;
  }

  #untilRetry(): number {
    return Math.min(...this.#broker.map(({ at }) => at - this.clock.now));
  }

  async #handle(work: Work): Promise<void> {
    const { delivery } = work;
    const { name, event } = delivery;
    const began = this.clock.now;
    const now = new Date(began + this.#skewOf(name));
    const context = { ...this.#context, now, api: this.turns.clientOf(work) };
    try {
      await functions[name]?.handle(context, event);
    } catch (caught) {
      this.#again(delivery, caught);
    } finally {
      work.over = true;
      this.slowest = Math.max(this.slowest, this.clock.now - began);
    }
  }

  /** The Broker takes a domain event, refuses it for now, or takes it and its answer is lost. */
  #hear(headers: Record<string, string>): Outcome {
    const [id = '', type = '', subject = ''] = ['ce-id', 'ce-type', 'ce-subject'].map(
      (name) => headers[name],
    );
    this.#attempts += 1;
    const isTaken = this.#attempts % 5 !== 1;
    if (isTaken) this.events.push({ id, type, subject, at: this.clock.now });
    if (this.acknowledged.has(id)) this.repeats.push(`subscribers were told of ${id} again`);
    if (!isTaken || this.#attempts % 5 === 3)
      return { result: 'transient', reason: 'the Broker did not answer' };
    this.acknowledged.add(id);
    return { result: 'delivered' };
  }

  async #record({ kind, metadata }: Announced, announced: string): Promise<void> {
    const about = (kind === 'Order' ? orders : artifactWorkflows) as Ref<KubeObject>;
    const { resourceVersion } = metadata;
    const patch = { metadata: { resourceVersion }, status: { announced } };
    await this.client.mergePatch(about, metadata, patch, { subresource: 'status' });
  }

  /** The broker tries again what was not answered well. */
  #again(delivery: Delivery, caught: unknown): void {
    const { code, message } = ArcError.from(caught);
    // A pod whose clock is behind that of the bridge takes no object for expired.
    const isLate = delivery.name === 'expire-objects' && code === 'ServiceUnavailable';
    const expected = caught instanceof Killed || code === 'Conflict' || message === '' || isLate;
    if (!expected) this.failed.push(`${delivery.name} failed: ${code} ${message}`);
    if (delivery.attempt > attempts) return;
    const at = this.clock.now + 200 * 2 ** delivery.attempt;
    this.#broker.push({ ...delivery, attempt: delivery.attempt + 1, at });
    this.clock.of(0).after(at - this.clock.now, () => undefined);
  }

  /** Nobody but people and expire-objects deletes an Order, and that when it is time by its own clock. */
  #judgeEnd(order: Order, after: KubeObject | undefined): void {
    if (after?.metadata.generation !== order.metadata.generation) this.former.push(order);
    const isBegin = !isDeleting(order) && (after === undefined || isDeleting(after));
    if (!isBegin || this.removed.has(order.metadata.uid ?? '')) return;
    const expiry = orderExpiry(order)?.getTime() ?? Number.POSITIVE_INFINITY;
    if (this.clock.now + this.#skewOf('expire-objects') < expiry)
      this.lostEarly.push(`Order ${order.metadata.name} was deleted before its time`);
  }

  #skewOf(name: string): number {
    return this.#skews.functions[names.indexOf(name) % this.#skews.functions.length] ?? 0;
  }

  #setApiClock(): void {
    this.kube.time = isoSeconds(this.clock.now + this.#skews.api);
  }
}

/** The ids of the events for all that the status of an object shows. */
export function shownBy(object: Announced): string[] {
  return announcements(object, new Date(0), '').map(({ event }) => event.id);
}

function kindOf(apiVersion: string, kind: string): Ref<KubeObject> {
  return { apiVersion, kind, plural: `${kind.toLowerCase()}s`, namespaced: true };
}
