import { isoSeconds } from '#shared/base/meta';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import type { Condition } from '../kinds/common.ts';
import type { Order } from '../kinds/order.ts';
import type { OrderPhase } from '../kinds/phases.ts';
import { longestConditionMessage } from '../values/limits.ts';
import { cut } from '../values/text.ts';
import { isFinished } from './attempts.ts';
import { phaseOf } from './phases.ts';

/**
 * The condition of an object whose step events a function keeps refusing: False, or absent. report-dead-letter sets it; the writer of the
 * other conditions preserves it, and drops it when the object has settled and no event was refused for a while.
 */
export const deliveredCondition = 'Delivered';

/** Its reason, also of the Event. */
export const wakeRefused = 'WakeRefused';

interface WithConditions {
  metadata: { generation?: number };
  status?: { conditions?: Condition[] };
}

/** A refused event is sent again every minute or two by the sweep: the condition has to outlast two of these. */
const quietMs = 5 * 60_000;

/** Returns the conditions after a dead letter. The time is that of a recent dead letter: another one within half of `quietMs` changes nothing. */
export function undelivered(
  { metadata, status = {} }: WithConditions,
  message: string,
  now: Date,
): Condition[] {
  const { conditions = [] } = status;
  const { generation } = metadata;
  const before = deliveryOf(conditions);
  const refused: Condition = {
    type: deliveredCondition,
    status: 'False',
    reason: wakeRefused,
    message: cut(message, longestConditionMessage),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    lastTransitionTime:
      before && isWithin(quietMs / 2, before, now) ? before.lastTransitionTime : isoSeconds(now.getTime()),
  };
  return [...withoutDelivery(conditions), refused];
}

/** Returns when the condition has seen no dead letter for long enough to be dropped, in Unix milliseconds. */
export function quietAt({ lastTransitionTime }: Condition): number {
  return Date.parse(lastTransitionTime) + quietMs;
}

/** True for phases in which no step is expected soon. */
const isAtRest = {
  Pending: false,
  Running: false,
  Succeeded: true,
  Failed: true,
  Cancelled: true,
  Scheduled: true,
  Suspended: true,
} satisfies Record<OrderPhase, boolean>;

/** True when the condition may be dropped once nothing was refused for a while: the object has ended, or waits for its schedule. */
export function isDeliveryOver(object: Order | ArtifactWorkflow): boolean {
  if (object.kind === 'Order') return isAtRest[(object as Order).status?.phase ?? 'Pending'];
  const workflow = object as ArtifactWorkflow;
  return isFinished(workflow) || phaseOf(workflow) === 'Active';
}

/** Returns the condition Delivered among `before` unless it may be dropped; `next` is the object as it will be without the condition. */
export function keptDelivery(
  before: readonly Condition[] | undefined,
  next: Order | ArtifactWorkflow,
  now: Date,
): Condition[] {
  const found = deliveryOf(before);
  return found === undefined || (isDeliveryOver(next) && now.getTime() >= quietAt(found)) ? [] : [found];
}

function isWithin(ms: number, { lastTransitionTime }: Condition, now: Date): boolean {
  return now.getTime() - Date.parse(lastTransitionTime) < ms;
}

/** Returns the condition Delivered, if the object has it. */
export function deliveryOf(conditions: readonly Condition[] = []): Condition | undefined {
  return conditions.find(({ type }) => type === deliveredCondition);
}

/** Returns the other conditions. */
export function withoutDelivery(conditions: readonly Condition[]): Condition[] {
  return conditions.filter(({ type }) => type !== deliveredCondition);
}
