import { breathe, type Clock, DelayQueue } from '#shared/base/async';
import { type KubeObject, sameJson } from '#shared/base/meta';
import {
  type ArtifactWorkflow,
  type Duty,
  duties,
  type Endpoint,
  isDutyKind,
  isFinished,
  type Order,
  paceOf,
  type Shard,
  shownOf,
  wholeShard,
} from '#shared/domain';
import { isForeign, keptBy } from '../view/kept.ts';
import { ObservedView, type ViewOptions } from '../view/observed-view.ts';
import { Agenda, type Outbox } from './agenda.ts';
import { type Change, lengthOf, linesOf, neighbours, nextOfLine } from './neighbours.ts';

/** ms between two sweeps. */
const sweepEvery = 60_000;
/** ArtifactWorkflows that are looked at for their Order, or their line, in each ms at most. */
const looksPerMs = 10;
/** A look at an Order with fewer ArtifactWorkflows costs next to nothing. */
const largeOrder = 100;
/** Objects that are looked at while others wait. */
const looksAtOnce = 50;

export interface DispatcherOptions extends ViewOptions {
  /** For waits: a correction of the time of day must not stop what repeats itself. */
  clock: Clock;
  /** For what objects say of times. Default: `clock`. */
  timeOfDay?: Pick<Clock, 'now'>;
  random: () => number;
  /** Whose duties it sends; default all. */
  shard?: Shard | undefined;
  outbox: Outbox;
  /** Called when a sweep found a duty that no change had shown. */
  repaired?: () => void;
}

/**
 * Which functions are called, for which object, when: it keeps a view of what is observed, computes the duties of an object and of its neighbours
 * anew with each change, and gives them to the agenda. It reads and sends nothing itself.
 */
export class Dispatcher {
  readonly view: ObservedView;
  readonly #options: DispatcherOptions;
  readonly #shard: Shard;
  readonly #agenda: Agenda;
  /** Orders to look at for what their ArtifactWorkflows show, by uid. */
  readonly #orders: DelayQueue<undefined>;
  /** Endpoints and Orders under whose limits there may be room, by uid. */
  readonly #lines: DelayQueue<undefined>;
  /** When one of those was last looked at, by uid, while it is under way. */
  readonly #looked = new Map<string, number>();
  /** Of the Orders without any duty, a hash of the state that was judged, by uid. */
  readonly #judged = new Map<string, number>();
  #isListed = false;
  #isClosed = false;
  #cancelSweep: () => void = () => undefined;

  constructor(options: DispatcherOptions) {
    const { clock, timeOfDay = clock, random, shard = wholeShard, outbox } = options;
    this.#options = options;
    this.#shard = shard;
    this.view = new ObservedView(options);
    this.#agenda = new Agenda({ clock, timeOfDay, random, outbox, look: (uid) => this.#lookAt(uid) });
    this.#orders = new DelayQueue(clock, (uid) => this.#lookAt(uid));
    this.#lines = new DelayQueue(clock, (uid) => this.#lookAtNext(uid));
  }

  /** True once every kind has been listed and the duties of every object are known. */
  get ready(): boolean {
    return this.#isListed;
  }

  /** Duties that are due. */
  get due(): number {
    return this.#agenda.due;
  }

  /** True while a step of the object with this uid is due or under way. */
  isBusy(uid: string): boolean {
    return this.#agenda.isBusy(uid);
  }

  /** Objects that are looked at again in a moment, for what others have shown. */
  get looks(): number {
    return this.#orders.size + this.#lines.size;
  }

  /** The part of an object to keep; undefined for one that is no concern of this shard. */
  keep(object: KubeObject): KubeObject | undefined {
    return keptBy(this.#shard, object);
  }

  /** Takes a change of an observed object; in a first list, its appearance. Both states are as `keep` returns them. */
  change(change: Change): void {
    const { before, after } = change;
    if (after !== undefined) this.view.put(after);
    else if (before !== undefined) this.view.remove(before);
    if (!this.#isListed) return;
    if (after !== undefined) this.#look(after);
    else if (before !== undefined) this.#forget(before);
    for (const neighbour of neighbours(this.view, change)) this.#look(neighbour);
    if (change.kind === 'ArtifactWorkflow') this.#lookAtOrder(change);
    this.#lookAtLines(change);
  }

  /** Every kind has been listed. Others run while the duties of all objects are computed. */
  async synced(): Promise<void> {
    this.#isListed = true;
    await this.#each((object) => this.#look(object));
    this.#armSweep();
  }

  /** The first attempt to deliver the event with this key begins. */
  started(...args: Parameters<Agenda['started']>): void {
    this.#agenda.started(...args);
  }

  /** The broker has answered for the event with this key. */
  ended(key: string): void {
    this.#agenda.ended(key);
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelSweep();
    this.#orders.close();
    this.#lines.close();
    this.#agenda.close();
  }

  /** Computes the duties of every object again: what a change did not show is found here, and nothing is sent for what is as it should be. */
  async sweep(): Promise<void> {
    await this.#each((object) => {
      // It is about to be looked at for what a change has shown.
      if (this.#orders.at(object.metadata.uid ?? '') !== undefined || this.#isAsJudged(object)) return;
      if (this.#look(object)) this.#options.repaired?.();
    });
  }

  /** True for an Order that has had no duty, and nothing has changed since that its duties depend on: to plan it again would cost the most. */
  #isAsJudged(object: KubeObject): boolean {
    const known = this.#judged.get(object.metadata.uid ?? '');
    return known !== undefined && known === hash(this.view.stateOf(object as unknown as Order));
  }

  #armSweep(): void {
    if (this.#isClosed) return;
    this.#cancelSweep = this.#options.clock.after(sweepEvery, () => {
      void this.sweep().then(() => this.#armSweep());
    });
  }

  async #each(look: (object: KubeObject) => void): Promise<void> {
    let looks = 0;
    for (const object of this.view.objects()) {
      if (!isDutyKind(object.kind)) continue;
      look(object);
      looks += 1;
      if (looks % looksAtOnce === 0) await breathe();
      if (this.#isClosed) return;
    }
  }

  #lookAt(uid: string): void {
    const object = this.view.object(uid);
    if (object !== undefined) this.#look(object);
  }

  #lookAtNext(uid: string): void {
    this.#noteLook(uid);
    const line = this.view.object(uid);
    if (line === undefined) return;
    for (const workflow of nextOfLine(this.view, line)) this.#look(workflow as unknown as KubeObject);
  }

  /** Computes the duties of an object. Returns true if one of them is due that was not known to be. */
  #look(object: KubeObject): boolean {
    if (!isDutyKind(object.kind)) return false;
    const isOthers = isForeign(object, this.#shard);
    if (isOthers && object.kind !== 'Endpoint') return false;
    const { uid = '' } = object.metadata;
    if (object.kind === 'Order') {
      this.#orders.delete(uid);
      this.#noteLook(uid);
    }
    const found = this.dutiesOf(object);
    if (object.kind === 'Order') {
      if (found.length > 0) this.#judged.delete(uid);
      else this.#judged.set(uid, hash(this.view.stateOf(object as unknown as Order)));
    }
    return this.#agenda.put(object, isOthers ? this.#looksOfOthers(object, found) : found);
  }

  /** Each shard looks at the credentials that its own work uses, so that none need know the work of the others. */
  #looksOfOthers(object: KubeObject, found: readonly Duty[]): Duty[] {
    const isInUse = this.view.isInUse(object as unknown as Endpoint);
    return isInUse ? found.filter((duty) => 'look' in duty) : [];
  }

  #forget(object: KubeObject): void {
    if (!isDutyKind(object.kind)) return;
    const { uid = '' } = object.metadata;
    this.#agenda.forget(object);
    this.#orders.delete(uid);
    this.#lines.delete(uid);
    this.#looked.delete(uid);
    this.#judged.delete(uid);
  }

  /**
   * A look at an Order costs as much as it has artifacts, so it comes at the pace of its status writes; a change of one that is small, or the last
   * one, shows at once. Of a large one that is over, whose ArtifactWorkflows go one by one, a look comes at the pace of its cost.
   */
  #lookAtOrder({ before, after }: Change): void {
    if (before !== undefined && after !== undefined && sameJson(countedOf(before), countedOf(after))) return;
    const child = (after ?? before) as unknown as ArtifactWorkflow;
    const order = this.view.orderOf(child);
    if (order === undefined) return;
    const { uid = '' } = order.metadata;
    const count = this.view.countOfChildren(order);
    const { spacing } = paceOf(this.view, order, this.#now());
    this.#lookLater(this.#orders, uid, Math.max(spacing, count < largeOrder ? 0 : count / looksPerMs));
  }

  /** There may be room under a limit. To see who is next costs as much as there are in line. */
  #lookAtLines(change: Change): void {
    for (const line of linesOf(this.view, change)) {
      const { uid = '' } = line.metadata;
      this.#lookLater(this.#lines, uid, lengthOf(this.view, line) / looksPerMs);
    }
  }

  #lookLater(at: DelayQueue<undefined>, uid: string, spacing: number): void {
    const now = this.#options.clock.now();
    const next = Math.max(now, (this.#looked.get(uid) ?? Number.NEGATIVE_INFINITY) + spacing);
    // Who is looked at seldom is not remembered.
    if (spacing === 0) this.#looked.delete(uid);
    else if (!this.#looked.has(uid)) this.#looked.set(uid, Number.NEGATIVE_INFINITY);
    at.set(uid, Math.min(next, at.at(uid) ?? next), undefined);
  }

  #noteLook(uid: string): void {
    if (this.#looked.has(uid)) this.#looked.set(uid, this.#options.clock.now());
  }

  /** The duties of an object, by what has been observed. */
  dutiesOf(object: KubeObject): Duty[] {
    return duties(this.view, object as unknown as Order | ArtifactWorkflow | Endpoint, this.#now());
  }

  #now(): Date {
    const { clock, timeOfDay = clock } = this.#options;
    return new Date(timeOfDay.now());
  }
}

/** What an Order decides by of an ArtifactWorkflow: not what its functions note for each other. */
function countedOf(object: KubeObject): unknown {
  const { metadata } = object;
  const { generation = 0, deletionTimestamp = null, labels = {}, annotations = {} } = metadata;
  const workflow = object as unknown as ArtifactWorkflow;
  return [generation, deletionTimestamp, labels, annotations, isFinished(workflow), shownOf(workflow)];
}

/** 32 bits (FNV-1a). */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return value >>> 0;
}
