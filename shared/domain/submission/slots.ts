import { compareAge } from '../identity/artifact.ts';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import type { Endpoint } from '../kinds/endpoint.ts';
import { labels } from '../kinds/well-known.ts';
import { missingAccount, nextAttemptMs, owesAttempt, rerunRequested } from '../lifecycle/attempts.ts';
import { isUnwatched } from '../lifecycle/holds.ts';
import { hasEnded, isDeleting, isHeld, phaseOf } from '../lifecycle/phases.ts';

/**
 * Limits on concurrent transfers: `Endpoint.spec.maxInFlight` and `Order.spec.parallelism`. Schedules are exempt: Argo starts their runs.
 */

/** The position of an ArtifactWorkflow that could start, at one limit. */
export type Turn =
  /** It may start. `inFlight`: if set, the new list of slots, to be written to the Endpoint first, guarded by its resourceVersion. */
  { starts: true; inFlight?: string[] } | { starts: false; ahead: number; running: number };

/**
 * True while its Workflow, or the pods of its Workflow, cannot be created: it runs nothing and blocks nobody, and its retries go to the end of
 * the line. A run that merely cannot be seen, because rights were withdrawn, is not refused.
 */
export function isRefused(workflow: ArtifactWorkflow): boolean {
  if (!isUnwatched(workflow.status?.waitReason) && missingAccount(workflow) === undefined) return false;
  return phaseOf(workflow) === 'Pending' || owesAttempt(workflow);
}

/** True while it occupies a slot: its Workflow may be running. A Pending one with a hold was refused before its Workflow existed. */
export function isInFlight(workflow: ArtifactWorkflow): boolean {
  if (workflow.spec.cron !== undefined) return false;
  if (isDeleting(workflow)) return isHeld(workflow) && workflow.status?.workflowRef !== undefined;
  const { workflowRef, waitReason } = workflow.status ?? {};
  if (workflowRef === undefined || hasEnded(workflow)) return false;
  return waitReason === undefined || phaseOf(workflow) !== 'Pending';
}

/**
 * True if it would start as soon as there is room. An ArtifactWorkflow that waits for its place at the destination lets others pass. Without
 * `now`, an ArtifactWorkflow in backoff counts only if it waits for a limit already.
 */
function isInLine(workflow: ArtifactWorkflow, now: Date | undefined): boolean {
  return !isRefused(workflow) && isToStart(workflow, now);
}

function isToStart(workflow: ArtifactWorkflow, now: Date | undefined): boolean {
  const { spec, status = {} } = workflow;
  if (isDeleting(workflow) || !isHeld(workflow) || status.configSecret === undefined) return false;
  if (spec.cron !== undefined || spec.suspend === true || spec.cancel === true) return false;
  if (status.waitReason === 'PlaceInUse' || isInFlight(workflow)) return false;
  if (!owesAttempt(workflow)) return !hasEnded(workflow);
  // As in `decideSubmission`: a rerun, and an undone cancel, have no backoff.
  if (rerunRequested(workflow) !== undefined || phaseOf(workflow) === 'Cancelled') return true;
  return now ? nextAttemptMs(workflow, now) <= now.getTime() : status.waitReason === 'LimitReached';
}

/** Returns the Endpoints that limit it, in an order common to all: two concurrent starts conflict at the first Endpoint. */
export function limitingEndpoints({ spec }: ArtifactWorkflow): string[] {
  return spec.cron === undefined ? [...(spec.limitedBy ?? [])].sort() : [];
}

/**
 * Decides whether `workflow` may start under the limit of `endpoint`; `users` are the ArtifactWorkflows that the Endpoint limits. Orders take
 * turns, each with its oldest first. The list of slots in the status makes this safe: of two concurrent decisions only one can be written.
 */
export function endpointTurn(
  workflow: ArtifactWorkflow,
  endpoint: Endpoint,
  users: readonly ArtifactWorkflow[],
  now: Date,
): Turn {
  const { maxInFlight } = endpoint.spec;
  if (maxInFlight === undefined) return { starts: true };
  const { name } = workflow.metadata;
  const holders = slotHolders(endpoint, users, now);
  if (holders.includes(name)) return { starts: true };
  const ahead = countAhead(workflow, slotLine(users, holders, now));
  if (holders.length + ahead >= maxInFlight) return { starts: false, ahead, running: holders.length };
  return { starts: true, inFlight: [...holders, name].sort() };
}

/** Names that hold a slot now: recorded and running or about to run (also during a retried refusal), or running without a record. */
function slotHolders(
  endpoint: Endpoint,
  users: readonly ArtifactWorkflow[],
  now: Date | undefined,
): string[] {
  const recorded = new Set(endpoint.status?.inFlight);
  return users
    .filter((user) => isInFlight(user) || (recorded.has(user.metadata.name) && isToStart(user, now)))
    .map(({ metadata }) => metadata.name)
    .sort();
}

/**
 * Returns the waiting ArtifactWorkflows, next first: by the number of slots that their Order holds, then by age. Excludes those that the
 * parallelism of their Order blocks, which would block the others.
 */
function slotLine(
  users: readonly ArtifactWorkflow[],
  holders: readonly string[],
  now: Date | undefined,
): ArtifactWorkflow[] {
  const taken = new Map<string, number>();
  const held = new Set(holders);
  for (const user of users)
    if (held.has(user.metadata.name)) taken.set(orderOf(user), (taken.get(orderOf(user)) ?? 0) + 1);
  const waiting = users
    .filter((user) => !held.has(user.metadata.name) && isInLine(user, now))
    .sort(compareAge);
  const ranked = waiting.flatMap((user) => {
    const { parallelism = Number.POSITIVE_INFINITY } = user.spec;
    const rank = taken.get(orderOf(user)) ?? 0;
    taken.set(orderOf(user), rank + 1);
    return rank < parallelism ? [{ user, rank }] : [];
  });
  return ranked.sort((a, b) => a.rank - b.rank || compareAge(a.user, b.user)).map(({ user }) => user);
}

/** Returns the ArtifactWorkflows that the free slots allow to start. */
export function nextInLine(endpoint: Endpoint, users: readonly ArtifactWorkflow[]): ArtifactWorkflow[] {
  const { maxInFlight = Number.POSITIVE_INFINITY } = endpoint.spec;
  const holders = slotHolders(endpoint, users, undefined);
  return slotLine(users, holders, undefined).slice(0, Math.max(0, maxInFlight - holders.length));
}

/** Returns `status.inFlight` without the ArtifactWorkflow; undefined if it holds no slot. */
export function slotsWithout(endpoint: Endpoint, { metadata }: ArtifactWorkflow): string[] | undefined {
  const { inFlight = [] } = endpoint.status ?? {};
  return inFlight.includes(metadata.name) ? inFlight.filter((name) => name !== metadata.name) : undefined;
}

/**
 * Decides whether `workflow` may start under the parallelism of its Order. The oldest starts first, always in the same order, so two
 * concurrent decisions cannot both take the last slot, and nothing has to be written.
 */
export function orderTurn(
  workflow: ArtifactWorkflow,
  siblings: readonly ArtifactWorkflow[],
  now: Date,
): Turn {
  const { parallelism } = workflow.spec;
  if (parallelism === undefined || workflow.spec.cron !== undefined || isInFlight(workflow))
    return { starts: true };
  const running = siblings.filter(isInFlight).length;
  const ahead = countAhead(workflow, orderLine(siblings, now));
  return running + ahead < parallelism ? { starts: true } : { starts: false, ahead, running };
}

/**
 * Returns the siblings that may be starting because `workflow`, which precedes them, was not in line when they decided: it waited for its
 * place at the destination. `siblings` were read after it was in line again. At most `parallelism` of them.
 */
export function mayHavePassed(
  workflow: ArtifactWorkflow,
  siblings: readonly ArtifactWorkflow[],
  now: Date,
): ArtifactWorkflow[] {
  const { parallelism = 0 } = workflow.spec;
  const running = siblings.filter(isInFlight).length;
  const { name } = workflow.metadata;
  const line = orderLine(siblings, now);
  const at = line.findIndex(({ metadata }) => metadata.name === name);
  return line.slice(at + 1, Math.max(at, parallelism - running) + 1);
}

/** Returns the children of an Order that its parallelism allows to start. */
export function nextOfOrder(siblings: readonly ArtifactWorkflow[]): ArtifactWorkflow[] {
  const parallelism = Math.max(0, ...siblings.map(({ spec }) => spec.parallelism ?? 0));
  const running = siblings.filter(isInFlight).length;
  const inLine = siblings.filter((one) => isInLine(one, undefined)).sort(compareAge);
  return inLine.slice(0, Math.max(0, parallelism - running));
}

/** Returns the waiting siblings, oldest first, then the refused ones whose retry is due, oldest first. */
function orderLine(siblings: readonly ArtifactWorkflow[], now: Date): ArtifactWorkflow[] {
  const refused = siblings.filter((one) => isRefused(one) && isToStart(one, now));
  return [...siblings.filter((one) => isInLine(one, now)).sort(compareAge), ...refused.sort(compareAge)];
}

/** Returns the position in a line; at its end for a workflow that is not in line yet. */
function countAhead({ metadata: { name } }: ArtifactWorkflow, line: readonly ArtifactWorkflow[]): number {
  const found = line.findIndex(({ metadata }) => metadata.name === name);
  return found < 0 ? line.length : found;
}

function orderOf({ metadata }: ArtifactWorkflow): string {
  return metadata.labels?.[labels.order] ?? metadata.name;
}
