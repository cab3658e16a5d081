import type { Clock } from '#shared/async';
import {
  type ArtifactWorkflow,
  artifactWorkflowDue,
  type Endpoint,
  isFinished,
  isSettled,
  needsConfiguration,
  needsPerson,
  type Order,
  orderDue,
  probeDue,
  type TimeReason,
  waitsForPerson,
} from '#shared/domain';
import { type KubeObject, ownerOfKind } from '#shared/meta';
import { IdSet } from '../objects/id-set.ts';
import type { Id } from '../objects/object-table.ts';
import type { References } from '../watches/references.ts';
import { CredentialLooks } from './credential-looks.ts';
import { DueTimes } from './due.ts';
import { Resync } from './resync.ts';
import { SecondLooks } from './second-looks.ts';

/** All in ms. */
export interface Intervals {
  /** Between resyncs of an object that is not settled; default one minute. */
  unsettled: number;
  /** Between resyncs of a settled object; default one hour. */
  settled: number;
  /** Between checks of the credentials of an Endpoint that unfinished work uses; default one minute. */
  credentials: number;
  /** Until a due time fires again, while the object still has it; default one minute. It doubles up to `settled`. */
  due: number;
}

const minute = 60_000;
export const defaultIntervals: Intervals = {
  unsettled: minute,
  settled: 60 * minute,
  credentials: minute,
  due: minute,
};

export interface TimersOptions {
  clock: Clock;
  /** For what objects say of times. */
  timeOfDay: Clock;
  random: () => number;
  intervals: Intervals;
  references: References;
  /** Called when it is time to wake the object; `epoch` differs each time. */
  wake(object: KubeObject, reason: TimeReason, epoch: string): void;
}

/** The wakes that a time causes, and no change: resyncs, due times and checks of credentials. */
export class Timers {
  readonly #references: References;
  readonly #resync: Resync<Id, Id>;
  readonly #credentialLooks: CredentialLooks;
  readonly #dueTimes: DueTimes<Id>;
  readonly #secondLooks: SecondLooks;

  constructor({ clock, timeOfDay, random, intervals, references, wake }: TimersOptions) {
    this.#references = references;
    // What is kept for each of very many objects is its number; one that is gone is forgotten here as well.
    const known = <T>(id: Id, otherwise: T, ask: (object: KubeObject) => T): T => {
      const object = references.object(id);
      return object === undefined ? otherwise : ask(object);
    };
    this.#resync = new Resync({
      kept: () => new IdSet(),
      clock,
      random,
      unsettledMs: intervals.unsettled,
      settledMs: intervals.settled,
      isUnsettled: (id) => known(id, false, (object) => this.isUnsettled(object)),
      isInStep: (id) => known(id, true, (object) => references.isInStep(object, new Date(timeOfDay.now()))),
      waitsForPerson: (id) => known(id, false, (object) => this.#waitsForPerson(object)),
      wake: (id, epoch) => known(id, undefined, (object) => wake(object, 'resync', epoch)),
    });
    this.#credentialLooks = new CredentialLooks({
      clock,
      random,
      everyMs: intervals.credentials,
      references,
      unsettled: () => this.#unsettledObjects(),
      look: (endpoint, epoch) => {
        this.woken(endpoint.metadata.uid ?? '');
        wake(endpoint, 'resync', epoch);
      },
    });
    this.#secondLooks = new SecondLooks(clock, (object) => {
      this.woken(object.metadata.uid ?? '');
      wake(object, 'resync', `look-${clock.now()}`);
    });
    this.#dueTimes = new DueTimes({
      clock: timeOfDay,
      random,
      repeatMs: intervals.due,
      longestRepeatMs: intervals.settled,
      dueAt: (id) => known(id, undefined, (object) => dueAt(object, references)),
      repeats: (id) => known(id, false, (object) => !this.#waitsForPerson(object)),
      fire: (id, epoch) =>
        known(id, undefined, (object) => {
          this.woken(object.metadata.uid ?? '');
          wake(object, 'due', epoch);
        }),
    });
  }

  *#unsettledObjects(): Iterable<KubeObject> {
    for (const id of this.#resync.unsettledObjects()) {
      const object = this.#references.object(id);
      if (object !== undefined) yield object;
    }
  }

  /** Objects that are not settled. */
  get unsettled(): number {
    return this.#resync.unsettled;
  }

  /** Takes the newest state of an object. Returns true when its change was found by a resync, because an event was lost. */
  update(object: KubeObject): boolean {
    const { uid = '' } = object.metadata;
    const id = this.#references.idOf(object);
    if (id === undefined) return false;
    const wasUnsettled = this.#resync.isWaiting(id);
    const foundWork = this.#resync.update(id, id);
    this.#dueTimes.update(uid, id);
    if (object.kind === 'Order') this.#updateExpiries(uid);
    if (object.kind === 'Endpoint') this.#credentialLooks.update(object);
    if (object.kind === 'ArtifactWorkflow') this.#secondLooks.update(object, refusalOf(object));
    if (object.kind === 'Order' && !wasUnsettled && this.#resync.isWaiting(id))
      this.#credentialLooks.begin(object as unknown as Order);
    return foundWork;
  }

  /** Takes the newest state of an Endpoint of another shard: it is looked at while work of this one uses it. */
  updateForeign(endpoint: KubeObject): void {
    this.#credentialLooks.updateForeign(endpoint);
  }

  /** The object is woken: whether it is settled is decided again within the interval of what is not; with `again` it is woken then in any case. */
  doubt(uid: string, again: boolean): void {
    this.#with(uid, (id) => this.#resync.doubt(id, again));
  }

  /** The Order, or what it refers to, has changed: what waits for a person may go on now. */
  askAgain(orderUid: string): void {
    for (const child of this.#references.childrenOf(orderUid))
      if (waitsForPerson(child)) this.doubt(child.metadata.uid ?? '', true);
  }

  /** Every kind has been listed: what is settled is woken within a minute or so, and what is not more often until then. */
  start(): void {
    this.#resync.start();
  }

  /** The object is woken for another reason than a resync. */
  woken(uid: string): void {
    this.#with(uid, (id) => this.#resync.woken(id));
  }

  /** The broker has taken a wake of the object. */
  delivered(uid: string): void {
    this.#with(uid, (id) => this.#resync.touch(id));
  }

  isUnsettled(object: KubeObject): boolean {
    const known = object as unknown as Order | ArtifactWorkflow | Endpoint;
    if (!isSettled(known)) return true;
    const references = this.#references;
    if (object.kind === 'Order')
      return references.hasStaleInputs(known as Order) || references.hasStaleChildren(known as Order);
    if (object.kind !== 'ArtifactWorkflow') return false;
    const workflow = known as ArtifactWorkflow;
    // The rendered credentials of a transfer that has ended still have to be removed.
    const hasLeftovers = workflow.status?.configSecret !== undefined && !needsConfiguration(workflow);
    return hasLeftovers || references.hasStaleSchedule(workflow);
  }

  /** The object is gone; `References` has still to learn that. */
  forget(object: KubeObject): void {
    const { uid = '' } = object.metadata;
    const id = this.#references.idOf(object);
    if (id !== undefined) this.#resync.forget(id);
    this.#credentialLooks.forget(uid);
    this.#dueTimes.forget(uid);
    this.#secondLooks.forget(uid);
  }

  close(): void {
    const parts = [this.#resync, this.#credentialLooks, this.#dueTimes, this.#secondLooks];
    for (const part of parts) part.close();
  }

  #with(uid: string, act: (id: Id) => void): void {
    const id = this.#references.idOfUid(uid);
    if (id !== undefined) act(id);
  }

  #waitsForPerson(object: KubeObject): boolean {
    if (object.kind === 'Endpoint' || !waitsForPerson(object as unknown as Order | ArtifactWorkflow))
      return false;
    const order = object as unknown as Order;
    const references = this.#references;
    return (
      object.kind !== 'Order' || !(references.hasStaleInputs(order) || references.hasStaleChildren(order))
    );
  }

  /** A finished ArtifactWorkflow expires only once the status of its Order shows the result. */
  #updateExpiries(orderUid: string): void {
    for (const child of this.#references.childrenOf(orderUid)) {
      if (!isFinished(child)) continue;
      const id = this.#references.idOf(child);
      if (id !== undefined) this.#dueTimes.update(child.metadata.uid ?? '', id);
    }
  }
}

/** What an ArtifactWorkflow waits for that no change may announce. */
function refusalOf(object: KubeObject): string | undefined {
  const { waitReason, configReason } = (object as unknown as ArtifactWorkflow).status ?? {};
  return [configReason, waitReason].find((reason) => needsPerson(reason));
}

function dueAt(object: KubeObject, references: References): number | undefined {
  if (object.kind === 'Order') return orderDue(object as unknown as Order)?.getTime();
  if (object.kind === 'Endpoint') return probeDue(object as unknown as Endpoint)?.getTime();
  if (object.kind !== 'ArtifactWorkflow') return undefined;
  const owner = ownerOfKind(object, 'Order');
  const order = owner && references.order(owner.uid);
  return artifactWorkflowDue(object as unknown as ArtifactWorkflow, order)?.getTime();
}
