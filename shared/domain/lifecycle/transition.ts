import { isoSeconds } from '#shared/base/meta';
import type { Condition } from '../kinds/common.ts';

/** Returns the condition with lastTransitionTime: its predecessor's if the status is the same, else now. Whole seconds. */
export function transition(
  before: readonly Condition[],
  now: Date,
  next: Omit<Condition, 'lastTransitionTime'>,
): Condition {
  const old = before.find(({ type }) => type === next.type);
  const lastTransitionTime = old?.status === next.status ? old.lastTransitionTime : isoSeconds(now);
  return { ...next, lastTransitionTime };
}
