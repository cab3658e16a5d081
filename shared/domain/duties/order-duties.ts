import { keyOf } from '../identity/artifact.ts';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import type { Order } from '../kinds/order.ts';
import { annotations, finalizers } from '../kinds/well-known.ts';
import { isDeleting } from '../lifecycle/phases.ts';
import { type ChildDecision, decideChildren, decideDeletion } from '../plan/children.ts';
import type { OrderPlan } from '../plan/plan.ts';
import { refusalFor, refusalsOf } from '../plan/refusals.ts';
import { staleAt, staleness } from '../roll-up/rollup.ts';
import { rollUpInterval } from '../roll-up/rollup-interval.ts';
import { isOn } from '../settings/settings.ts';
import { orderExpiry } from '../ttl/ttl.ts';
import { type Duty, growing, lookIntervals, type Pace, progressDebounce } from './duty.ts';
import type { View } from './view.ts';

/** Debounce before an Order is requeued for submitted Workflows, most of which run within this time; ms. */
const submittedDebounce = 3_000;

/** Returns the duties of functions for an Order. Takes time proportional to its artifacts. */
export function orderDuties(view: View, order: Order, now: Date): Duty[] {
  const children = view.childrenOf(order);
  const isHeld = order.metadata.finalizers?.includes(finalizers.children) === true;
  if (isDeleting(order)) return deletionDuties(order, children, now);
  const plan = view.planOf(order);
  const decompose = decomposeDuties(order, plan, children, now);
  // The finalizer comes first: decompose-order and roll-up-order must not both write a new Order at the same time.
  const rollUp = isHeld ? rollUpDuties(view, order, plan, children, now) : [];
  return [...decompose, ...rollUp, ...expireDuties(view, order)];
}

/** While an Order is deleted, its status is written once to say so, and not for each of its artifacts. */
function deletionDuties(order: Order, children: readonly ArtifactWorkflow[], now: Date): Duty[] {
  const { finalizers: held = [], generation } = order.metadata;
  const due = now.getTime();
  const isSeen = order.status?.observedGeneration === generation;
  const rollUp: Duty[] = isSeen ? [] : [{ step: 'roll-up', why: 'it is being deleted', due }];
  if (!held.includes(finalizers.children)) return rollUp;
  const { stop, letGo } = decideDeletion(order, children);
  if (letGo) return [{ step: 'decompose', why: 'nothing is left of it', due }];
  return stop.length > 0 ? [{ step: 'decompose', why: 'it is being deleted', due }, ...rollUp] : rollUp;
}

function decomposeDuties(
  order: Order,
  plan: OrderPlan,
  children: readonly ArtifactWorkflow[],
  now: Date,
): Duty[] {
  const decision = decideChildren(order, plan, children);
  const refusals = refusalsOf(order);
  const { create } = decision;
  const refused = create.filter((child) => refusalFor(refusals, keyOf(child)) !== undefined);
  const isNoteOver = create.length === 0 && Object.keys(refusals).length > 0;
  const why = causeOf(order, plan);
  if (isNoteOver || isWork(decision) || refused.length < create.length)
    return [{ step: 'decompose', why, due: now.getTime(), remaining: create.length }];
  if (refused.length === 0) return [];
  // Quotas regain room often, whenever an object is deleted, and a look costs only a few requests.
  const isOverQuota = Object.values(refusals).some(({ reason }) => reason === 'QuotaExceeded');
  const look = growing(isOverQuota ? lookIntervals.inUse : lookIntervals.atRest);
  return [{ step: 'decompose', why: `${why}: refused`, look }];
}

/** Returns true for a decision that does more than create missing children. */
function isWork({ finalizer, stop, remove, superseded, patches }: ChildDecision): boolean {
  return finalizer === 'add' || [stop, remove, superseded, patches].some((list) => list.length > 0);
}

/** Returns a text for everything its ArtifactWorkflows are made from, except the ArtifactWorkflows themselves. */
function causeOf({ metadata }: Order, { inputs, forceAt }: OrderPlan): string {
  const retryAt = metadata.annotations?.[annotations.retryAt];
  return [
    `generation ${metadata.generation}`,
    ...(forceAt > 0 ? [`forced at ${forceAt}`] : []),
    ...(retryAt === undefined ? [] : [`retried at ${retryAt}`]),
    `inputs ${inputs}`,
  ].join(', ');
}

function rollUpDuties(
  view: View,
  order: Order,
  plan: OrderPlan,
  children: readonly ArtifactWorkflow[],
  now: Date,
): Duty[] {
  const step = 'roll-up';
  const stale = staleness(order, plan, children, now);
  if (stale !== undefined) {
    const { spacing, yields } = paceOf(view, order, now);
    const isSeen = order.status?.observedGeneration === order.metadata.generation;
    const debounce = stale.isMinor ? submittedDebounce : yields && isSeen ? progressDebounce : 0;
    return [{ step, why: stale.why, due: now.getTime(), pace: { spacing, debounce, yields } }];
  }
  const at = staleAt(order);
  // The wait is over by the clock of roll-up-order, which may have decided otherwise.
  return at === undefined || at <= now.getTime() ? [] : [{ step, why: 'a wait is over', due: at }];
}

/** Returns how often an Order is rolled up for its children: about 20 times per run of any size, and at once when the last child has ended. */
export function paceOf(view: View, order: Order, now: Date): Pace {
  const { conditions = [] } = order.status ?? {};
  const run = conditions.find(({ type, status }) => type === 'Reconciling' && status === 'True');
  const began = Date.parse(run?.lastTransitionTime ?? '');
  const elapsed = Number.isNaN(began) ? 0 : now.getTime() - began;
  const isOver = !view.hasUnfinished(order);
  const spacing = isOver ? 0 : rollUpInterval(order.spec.artifacts?.length ?? 1, elapsed);
  return { debounce: 0, spacing, yields: !isOver || order.status?.inputs === undefined };
}

function expireDuties({ settings }: View, order: Order): Duty[] {
  const at = isOn('ttl', settings) ? orderExpiry(order) : undefined;
  return at === undefined ? [] : [{ step: 'expire', why: 'its time to live is over', due: at.getTime() }];
}
