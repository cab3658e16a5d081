import { isoSeconds } from '#shared/base/meta';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import type { Condition } from '../kinds/common.ts';
import type { Order, OrderPhase } from '../kinds/order.ts';
import { longestConditionMessage } from '../values/limits.ts';
import { cut } from '../values/text.ts';
import { isFinished } from './attempts.ts';
import { phaseOf } from './phases.ts';

/**
 * The condition of an object of which a function has refused a wake every time: False, or absent. report-dead-letter sets it; the writer of
 * the other conditions carries it along and leaves it out when the object has settled and no wake was refused for a while.
 */
export const deliveredCondition = 'Delivered';

/** Its reason, which is that of the Event as well. */
export const wakeRefused = 'WakeRefused';

interface WithConditions {
  metadata: { generation?: number };
  status?: { conditions?: Condition[] };
}

/** A wake that is refused again and again is so each minute or two, as often as a resync sends it: until then nobody knows. */
const quietMs = 5 * 60_000;

/** The conditions of an object after a dead letter. The time is that of a recent letter: another one within half the quiet time changes nothing. */
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

/** When the condition has had no dead letter for long enough to go, in Unix milliseconds. */
export function quietAt({ lastTransitionTime }: Condition): number {
  return Date.parse(lastTransitionTime) + quietMs;
}

const phasesAtRest: ReadonlySet<OrderPhase | undefined> = new Set([
  'Succeeded',
  'Failed',
  'Cancelled',
  'Scheduled',
  'Suspended',
] as const);

/** True when the condition may go, once nothing has been refused for a while: what it was about has ended, or waits for its schedule. */
export function isDeliveryOver(object: Order | ArtifactWorkflow): boolean {
  if (object.kind === 'Order') return phasesAtRest.has((object as Order).status?.phase);
  const workflow = object as ArtifactWorkflow;
  return isFinished(workflow) || phaseOf(workflow) === 'Active';
}

/** The condition Delivered among those `before`, unless it may go by now; `next` is the object as it will be without it. */
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

/** The condition, where the object has it. */
export function deliveryOf(conditions: readonly Condition[] = []): Condition | undefined {
  return conditions.find(({ type }) => type === deliveredCondition);
}

/** The other conditions. */
export function withoutDelivery(conditions: readonly Condition[]): Condition[] {
  return conditions.filter(({ type }) => type !== deliveredCondition);
}
