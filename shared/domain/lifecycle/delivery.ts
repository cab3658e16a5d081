import type { Condition } from '../kinds/common.ts';
import { transition } from '../roll-up/conditions.ts';
import { longestConditionMessage } from '../values/limits.ts';
import { cut } from '../values/text.ts';

/**
 * The condition of an object of which a function has refused a wake every time: False, or absent. report-dead-letter sets it; the writer of
 * the other conditions carries it along and leaves it out when the object has settled.
 */
export const deliveredCondition = 'Delivered';

/** Its reason, which is that of the Event as well. */
export const wakeRefused = 'WakeRefused';

interface WithConditions {
  metadata: { generation?: number };
  status?: { conditions?: Condition[] };
}

/** The conditions of an object after a dead letter. The same letter again changes nothing. */
export function undelivered(
  { metadata, status = {} }: WithConditions,
  message: string,
  now: Date,
): Condition[] {
  const { conditions = [] } = status;
  const { generation } = metadata;
  const refused = transition(conditions, now, {
    type: deliveredCondition,
    status: 'False',
    reason: wakeRefused,
    message: cut(message, longestConditionMessage),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  });
  return [...withoutDelivery(conditions), refused];
}

/** The condition, where the object has it. */
export function deliveryOf(conditions: readonly Condition[] = []): Condition | undefined {
  return conditions.find(({ type }) => type === deliveredCondition);
}

/** The other conditions. */
export function withoutDelivery(conditions: readonly Condition[]): Condition[] {
  return conditions.filter(({ type }) => type !== deliveredCondition);
}
