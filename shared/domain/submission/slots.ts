import { compareAge } from '../identity/artifact.ts';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import type { Endpoint } from '../kinds/endpoint.ts';
import { labels } from '../kinds/well-known.ts';
import { missingAccount, nextAttemptMs, owesAttempt, rerunRequested } from '../lifecycle/attempts.ts';
import { isOutOfSight } from '../lifecycle/holds.ts';
import { hasEnded, isDeleting, isHeld, phaseOf } from '../lifecycle/phases.ts';

/**
 * Limits on how many transfers run at once: `Endpoint.spec.maxInFlight` and `Order.spec.parallelism`. Schedules are not limited: Argo
 * starts their runs, not we.
 */

/** What an ArtifactWorkflow that could start finds at a limit. */
export type Turn =
  /** It may start. `inFlight`: what to write to the Endpoint first, guarded by its resourceVersion, where that differs. */
  { starts: true; inFlight?: string[] } | { starts: false; ahead: number; running: number };

/**
 * True while its Workflow, or that Workflow's pods, cannot be made: nothing of it runs, and it holds up nobody. When it is tried again it goes
 * after those in line. One that runs, though the rights to see that were withdrawn, is not refused.
 */
export function isRefused(workflow: ArtifactWorkflow): boolean {
  if (!isOutOfSight(workflow.status?.waitReason) && missingAccount(workflow) === undefined) return false;
  return phaseOf(workflow) === 'Pending' || owesAttempt(workflow);
}

/** True while it takes a slot: its Workflow may be running. One that waits has been refused before, or its Workflow would have ended the wait. */
export function isInFlight(workflow: ArtifactWorkflow): boolean {
  if (workflow.spec.cron !== undefined) return false;
  if (isDeleting(workflow)) return isHeld(workflow) && workflow.status?.workflowRef !== undefined;
  const { workflowRef, waitReason } = workflow.status ?? {};
  if (workflowRef === undefined || hasEnded(workflow)) return false;
  return waitReason === undefined || phaseOf(workflow) !== 'Pending';
}

/**
 * True if it would start at once, were there room. What waits for another one's place at the destination lets others go first. Without `now`, one
 * that backs off after a failure is in line only if it has been told so.
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
  // As `decideSubmission` has it: a rerun, and what is no longer cancelled, wait for no time.
  if (rerunRequested(workflow) !== undefined || phaseOf(workflow) === 'Cancelled') return true;
  return now ? nextAttemptMs(workflow, now) <= now.getTime() : status.waitReason === 'LimitReached';
}

/** The Endpoints that limit it, in the order in which its slots are taken: the same for all, so that two that start at once meet at the first. */
export function limitingEndpoints({ spec }: ArtifactWorkflow): string[] {
  return spec.cron === undefined ? [...(spec.limitedBy ?? [])].sort() : [];
}

/**
 * Whether `workflow` may start as far as `endpoint` goes; `users` are the ArtifactWorkflows that the Endpoint limits. Orders take turns, the
 * oldest of each first. The list of slots in the status makes that safe: two that decide at once cannot both write it.
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
  const line = slotLine(users, holders, now).map(({ metadata }) => metadata.name);
  const found = line.indexOf(name);
  const ahead = found < 0 ? line.length : found;
  if (holders.length + ahead >= maxInFlight) return { starts: false, ahead, running: holders.length };
  return { starts: true, inFlight: [...holders, name].sort() };
}

/** The names that have a slot now: those recorded that are still to run (a refused one is being tried) or run, and those that run without being recorded. */
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
 * Those that wait for a slot, the next one first: the Order with the fewest under way, then the oldest. Those that the parallelism of their
 * Order holds back would hold up the others.
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

/** Those that may start now that there is room. */
export function nextInLine(endpoint: Endpoint, users: readonly ArtifactWorkflow[]): ArtifactWorkflow[] {
  const { maxInFlight = Number.POSITIVE_INFINITY } = endpoint.spec;
  const holders = slotHolders(endpoint, users, undefined);
  return slotLine(users, holders, undefined).slice(0, Math.max(0, maxInFlight - holders.length));
}

/** `status.inFlight` without the ArtifactWorkflow, if it has a slot there that it does not need any more. */
export function slotsWithout(endpoint: Endpoint, { metadata }: ArtifactWorkflow): string[] | undefined {
  const { inFlight = [] } = endpoint.status ?? {};
  return inFlight.includes(metadata.name) ? inFlight.filter((name) => name !== metadata.name) : undefined;
}

/**
 * Whether `workflow` may start as far as `parallelism` of its Order goes. The oldest start first, always in the same order: so two that decide
 * at once cannot both see that it is their turn, and nothing has to be written.
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
  const line = orderLine(siblings, now).map(({ metadata }) => metadata.name);
  const found = line.indexOf(workflow.metadata.name);
  const ahead = found < 0 ? line.length : found;
  return running + ahead < parallelism ? { starts: true } : { starts: false, ahead, running };
}

/**
 * Returns the siblings that may be starting because `workflow`, which comes before them, was not in line when they decided: it waited for its
 * place at the destination. `siblings` were read when it was in line again. At most as many as `parallelism`.
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

/** Those of an Order that may start now that another one has ended. */
export function nextOfOrder(siblings: readonly ArtifactWorkflow[]): ArtifactWorkflow[] {
  const parallelism = Math.max(0, ...siblings.map(({ spec }) => spec.parallelism ?? 0));
  const running = siblings.filter(isInFlight).length;
  const inLine = siblings.filter((one) => isInLine(one, undefined)).sort(compareAge);
  return inLine.slice(0, Math.max(0, parallelism - running));
}

/** Those in line, then those that were refused and are tried again: of several, the oldest first. */
function orderLine(siblings: readonly ArtifactWorkflow[], now: Date): ArtifactWorkflow[] {
  const refused = siblings.filter((one) => isRefused(one) && isToStart(one, now));
  return [...siblings.filter((one) => isInLine(one, now)).sort(compareAge), ...refused.sort(compareAge)];
}

function orderOf({ metadata }: ArtifactWorkflow): string {
  return metadata.labels?.[labels.order] ?? metadata.name;
}
