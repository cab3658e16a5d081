import { type Clock, DelayQueue, yieldToEventLoop } from '#shared/base/async';
import { sameJson } from '#shared/base/meta';
import {
  type ArtifactWorkflow,
  type Duty,
  duties,
  hasDuties,
  isFinished,
  paceOf,
  type Shard,
  shownOf,
  wholeShard,
} from '#shared/domain';
import { isForeign, keptBy, type Observed } from '../view/kept.ts';
import { ObservedView, type ViewOptions } from '../view/observed-view.ts';
import { Agenda, type Outbox, type WithDuties } from './agenda.ts';
import { type Change, lengthOf, linesOf, neighbours, nextOfLine } from './neighbours.ts';

/** ms between two sweeps. */
const sweepEvery = 60_000;
/** ArtifactWorkflows examined per ms, for their Order or their line: a bound on the share of CPU. */
const looksPerMs = 10;
/** Looking at an Order with fewer ArtifactWorkflows costs next to nothing. */
const largeOrder = 100;
/** Objects examined before yielding to the event loop. */
const looksAtOnce = 50;

export interface DispatcherOptions extends ViewOptions {
  /** For waits: a correction of the time of day must not stop periodic work. */
  clock: Clock;
  /** The clock to compare with times in objects. Default: `clock`. */
  timeOfDay?: Pick<Clock, 'now'>;
  random: () => number;
  /** The shard whose duties are sent; default all. */
  shard?: Shard | undefined;
  outbox: Outbox;
  /** Called when a sweep found a duty that no change had shown. */
  repaired?: () => void;
}

/**
 * Decides which function is called for which object, and when: keeps a view of the observed objects, computes the duties of a changed object and
 * of its neighbours, and passes them to the agenda. Performs no I/O.
 */
export class Dispatcher {
  readonly view: ObservedView;
  /** What is due, and sent. */
  readonly agenda: Agenda;
  readonly #options: DispatcherOptions;
  readonly #shard: Shard;
  /** Orders to examine because their ArtifactWorkflows changed, by uid. */
  readonly #orders: DelayQueue<undefined>;
  /** Endpoints and Orders whose limits may have room, by uid. */
  readonly #lines: DelayQueue<undefined>;
  /** When each of those was last examined, by uid, while its debounce lasts. */
  readonly #looked = new Map<string, number>();
  /** For Orders without any duty, a hash of the examined state, by uid. */
  readonly #judged = new Map<string, number>();
  #isListed = false;
  #isClosed = false;
  #cancelSweep: () => void = () => undefined;

  constructor(options: DispatcherOptions) {
    const { clock, timeOfDay = clock, random, shard = wholeShard, outbox } = options;
    this.#options = options;
    this.#shard = shard;
    this.view = new ObservedView(options);
    this.agenda = new Agenda({ clock, timeOfDay, random, outbox, look: (uid) => this.#lookAt(uid) });
    this.#orders = new DelayQueue(clock, (uid) => this.#lookAt(uid));
    this.#lines = new DelayQueue(clock, (uid) => this.#lookAtNext(uid));
  }

  /** True once every kind has been listed and the duties of every object are known. */
  get ready(): boolean {
    return this.#isListed;
  }

  /** Objects that will be examined in a moment, because their neighbours changed. */
  get looks(): number {
    return this.#orders.size + this.#lines.size;
  }

  /** Returns the part of an object to keep; undefined for an object of no concern to this shard. */
  keep(object: Observed): Observed | undefined {
    return keptBy(this.#shard, object);
  }

  /** Processes a change of an observed object; in a first list, its appearance. Both states are as `keep` returns them. */
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

  /** Called when every kind has been listed. Yields to the event loop while the duties of all objects are computed. */
  async synced(): Promise<void> {
    this.#isListed = true;
    await this.#each((object) => this.#look(object));
    this.#armSweep();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelSweep();
    this.#orders.close();
    this.#lines.close();
    this.agenda.close();
  }

  /** Computes the duties of every object again. Finds what no change has shown, and sends nothing for settled objects. */
  async sweep(): Promise<void> {
    await this.#each((object) => {
      // It is about to be examined because of a change.
      if (this.#orders.at(object.metadata.uid ?? '') !== undefined || this.#isAsJudged(object)) return;
      if (this.#look(object)) this.#options.repaired?.();
    });
  }

  /** True for an Order that had no duty and whose inputs are unchanged since: planning it again would be the largest cost of a sweep. */
  #isAsJudged(object: WithDuties): boolean {
    if (object.kind !== 'Order') return false;
    const known = this.#judged.get(object.metadata.uid ?? '');
    return known !== undefined && known === hash(this.view.stateOf(object));
  }

  #armSweep(): void {
    if (this.#isClosed) return;
    this.#cancelSweep = this.#options.clock.after(sweepEvery, () => {
      void this.sweep().then(() => this.#armSweep());
    });
  }

  async #each(look: (object: WithDuties) => void): Promise<void> {
    let looks = 0;
    for (const object of this.view.objects()) {
      if (!hasDuties(object)) continue;
      look(object);
      looks += 1;
      if (looks % looksAtOnce === 0) await yieldToEventLoop();
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
    if (line?.kind !== 'Order' && line?.kind !== 'Endpoint') return;
    for (const workflow of nextOfLine(this.view, line)) this.#look(workflow);
  }

  /** Computes the duties of an object. Returns true if a duty is newly due. */
  #look(object: Observed): boolean {
    if (!hasDuties(object)) return false;
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
      else this.#judged.set(uid, hash(this.view.stateOf(object)));
    }
    if (!isOthers || object.kind !== 'Endpoint') return this.agenda.put(object, found);
    // Each shard polls the credentials that its own work uses, so that no shard needs to know the work of the others.
    const looks = this.view.isInUse(object) ? found.filter((duty) => 'look' in duty) : [];
    return this.agenda.put(object, looks);
  }

  #forget(object: Observed): void {
    if (!hasDuties(object)) return;
    const { uid = '' } = object.metadata;
    this.agenda.forget(object);
    this.#orders.delete(uid);
    this.#lines.delete(uid);
    this.#looked.delete(uid);
    this.#judged.delete(uid);
  }

  /**
   * Examining an Order costs time proportional to its artifacts, so it happens at the pace of its status writes; at once for a small Order or
   * its last change. For a large finished Order, whose ArtifactWorkflows expire one by one, the pace depends on that cost.
   */
  #lookAtOrder({ before, after }: Change<ArtifactWorkflow>): void {
    if (before !== undefined && after !== undefined && sameJson(countedOf(before), countedOf(after))) return;
    const order = this.view.orderOf(after ?? before);
    if (order === undefined) return;
    const { uid = '' } = order.metadata;
    const count = this.view.countOfChildren(order);
    const { spacing } = paceOf(this.view, order, this.#now());
    this.#lookLater(this.#orders, uid, Math.max(spacing, count < largeOrder ? 0 : count / looksPerMs));
  }

  /** A limit may have room. Finding the next in line costs time proportional to the line. */
  #lookAtLines(change: Change): void {
    for (const line of linesOf(this.view, change)) {
      const { uid = '' } = line.metadata;
      this.#lookLater(this.#lines, uid, lengthOf(this.view, line) / looksPerMs);
    }
  }

  #lookLater(at: DelayQueue<undefined>, uid: string, spacing: number): void {
    const now = this.#options.clock.now();
    const next = Math.max(now, (this.#looked.get(uid) ?? Number.NEGATIVE_INFINITY) + spacing);
    // Without spacing there is nothing to remember.
    if (spacing === 0) this.#looked.delete(uid);
    else if (!this.#looked.has(uid)) this.#looked.set(uid, Number.NEGATIVE_INFINITY);
    at.set(uid, Math.min(next, at.at(uid) ?? next), undefined);
  }

  #noteLook(uid: string): void {
    if (this.#looked.has(uid)) this.#looked.set(uid, this.#options.clock.now());
  }

  /** Returns the duties of an object in the observed state. */
  dutiesOf(object: WithDuties): Duty[] {
    return duties(this.view, object, this.#now());
  }

  #now(): Date {
    const { clock, timeOfDay = clock } = this.#options;
    return new Date(timeOfDay.now());
  }
}

/** Returns the part of an ArtifactWorkflow that its Order's duties depend on, without the fields that functions note for each other. */
function countedOf(workflow: ArtifactWorkflow): unknown {
  const { generation = 0, deletionTimestamp = null, labels = {}, annotations = {} } = workflow.metadata;
  return [generation, deletionTimestamp, labels, annotations, isFinished(workflow), shownOf(workflow)];
}

/** 32 bits (FNV-1a). */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return value >>> 0;
}
