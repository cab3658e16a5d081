import { isRecord, type KubeObject } from '#shared/base/meta';
import type { Order } from '#shared/domain';
import { hasEnd, standingOf, type UnfinishedOrders } from './standing.ts';

/** The goal of `arcctl wait --for`. */
export type Goal =
  | { type: 'phase'; phase: string }
  | { type: 'condition'; condition: string; status: string }
  | { type: 'delete' };

/** Parses `phase=Succeeded`, `condition=Ready`, `condition=Ready=False` or `delete`, as in kubectl; undefined for anything else. */
export function parseGoal(text: string): Goal | undefined {
  if (text.toLowerCase() === 'delete') return { type: 'delete' };
  const [, type, name, status = 'True'] = /^(phase|condition)=([A-Za-z]+)(?:=([A-Za-z]+))?$/.exec(text) ?? [];
  if (name === undefined) return undefined;
  if (type === 'condition') return { type, condition: name, status };
  return text.split('=').length === 2 ? { type: 'phase', phase: name } : undefined;
}

/** `never`: the object has ended otherwise, and only a user can change that. */
export type Verdict = 'met' | 'open' | 'never';

/**
 * Returns whether an object has reached the goal. Compared case-insensitively, as in kubectl. A status of an earlier generation does not
 * count.
 */
export function verdictOf(goal: Goal, object: KubeObject | undefined, openings?: UnfinishedOrders): Verdict {
  if (goal.type === 'delete') return object === undefined ? 'met' : 'open';
  if (object === undefined) return 'never';
  const status = isRecord(object.status) ? object.status : {};
  const standing = isOrder(object) ? standingOf(object, openings?.has(object)) : 'open';
  const isFresh =
    status.observedGeneration === undefined || status.observedGeneration === object.metadata.generation;
  const isOver = isOrder(object) && hasEnd(object);
  // While a force or retry is pending, the status shows a previous end.
  if (isFresh && (!isOver || standing !== 'open') && isMet(goal, status)) return 'met';
  return standing === 'open' ? 'open' : 'never';
}

function isMet(goal: Exclude<Goal, { type: 'delete' }>, status: Record<string, unknown>): boolean {
  if (goal.type === 'phase') return same(status.phase, goal.phase);
  const conditions = Array.isArray(status.conditions) ? status.conditions.filter(isRecord) : [];
  return conditions.some((each) => same(each.type, goal.condition) && same(each.status, goal.status));
}

function same(value: unknown, wanted: string): boolean {
  return typeof value === 'string' && value.toLowerCase() === wanted.toLowerCase();
}

export function isOrder(object: KubeObject): object is Order {
  return object.kind === 'Order';
}
