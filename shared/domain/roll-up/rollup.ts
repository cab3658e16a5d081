import { printable } from '#shared/base/errors';
import { instantOf, isoSeconds, sameJson } from '#shared/base/meta';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import type { ArtifactStatus, Order, OrderCounts, OrderStatus } from '../kinds/order.ts';
import type { OrderPhase, WorkflowPhase } from '../kinds/phases.ts';
import { deliveryOf, isDeliveryOver, keptDelivery, quietAt } from '../lifecycle/delivery.ts';
import { gracePeriodEnd, needsPerson } from '../lifecycle/holds.ts';
import { phaseOf as artifactPhase, isDeleting } from '../lifecycle/phases.ts';
import { type CurrentVersion, currentVersions } from '../plan/current.ts';
import type { OrderPlan } from '../plan/plan.ts';
import { refusalsOf } from '../plan/refusals.ts';
import { isRunFailure } from '../sync/attempt-event.ts';
import { longestQuotedMessage } from '../values/limits.ts';
import { cut } from '../values/text.ts';
import { conditionsFor } from './conditions.ts';
import { type EntryBudget, entryBudget, entryFor } from './entry.ts';

/**
 * Returns the Order's status, computed from its plan and its ArtifactWorkflows. Deterministic: unless something that it shows has changed,
 * it equals the status in `order`, times included, so that nothing is written. Its size is bounded: 5,000 artifacts stay under
 * 0.9 MiB, whatever their messages.
 */
export function rollUp(
  order: Order,
  plan: OrderPlan,
  children: readonly ArtifactWorkflow[],
  now: Date,
): OrderStatus {
  const current = currentVersions(order, plan, children);
  const budget = entryBudget(current.length);
  const entries = entriesOf(order, current, budget, now);
  const shown = Object.values(entries);
  const counts = countsOf(shown);
  const phase = phaseOf(order, current, shown, counts);
  const headline = headlineOf(shown);
  const message = messageOf(phase, counts, headline);
  const before = order.status ?? {};
  const startTime = before.startTime ?? earliest(children);
  const completionTime = counts.total === 0 ? undefined : completionOf(phase, before, shown, now);
  const forced = plan.forceAt > 0 ? isoSeconds(plan.forceAt * 1000) : before.lastForceAt;
  const generation = order.metadata.generation;
  const status: OrderStatus = {
    phase,
    message,
    counts,
    artifactWorkflows: entries,
    endpointGenerations: plan.endpointGenerations,
    secretGenerations: plan.secretGenerations,
    inputs: plan.inputs,
    ...(forced === undefined ? {} : { lastForceAt: forced }),
    ...(before.announced === undefined ? {} : { announced: before.announced }),
    conditions: conditionsFor(
      { phase, reason: reasonOf(phase, counts, headline), message, hasFailed: hasFailed(counts) },
      generation,
      before.conditions ?? [],
      now,
    ),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    ...(startTime === undefined ? {} : { startTime }),
    ...(completionTime === undefined ? {} : { completionTime }),
  };
  const kept = keptDelivery(before.conditions, { ...order, status }, now);
  return { ...status, conditions: [...(status.conditions ?? []), ...kept] };
}

/** What an Order's status lacks, in a phrase, and how urgent the update is. */
export interface Staleness {
  why: string;
  /** True if the update can wait: a Workflow was prepared or submitted, and most Workflows run a moment later. */
  isMinor: boolean;
}

/**
 * Returns what the status of an Order lacks; undefined if `rollUp` would write nothing. `order` may lack the texts of its conditions, and
 * `children` their parameters: the status names its inputs and shows the rest in its entries. An Order being deleted is rolled up once.
 */
export function staleness(
  order: Order,
  plan: OrderPlan,
  children: readonly ArtifactWorkflow[],
  now: Date,
): Staleness | undefined {
  const { status, metadata } = order;
  const { generation } = metadata;
  const stale = (why: string, isMinor = false) => ({ why, isMinor });
  if (status === undefined || status.observedGeneration !== generation)
    return stale(`generation ${generation}`);
  if (isDeleting(order)) return undefined;
  if (status.inputs !== plan.inputs) return stale('an Endpoint, type, template or setting changed');
  if (plan.forceAt > 0 && status.lastForceAt !== isoSeconds(plan.forceAt * 1000))
    return stale('force-at was set');
  const current = currentVersions(order, plan, children);
  const before = status.artifactWorkflows ?? {};
  const entries = Object.entries(entriesOf(order, current, entryBudget(current.length), now));
  const changed = entries.filter(([key, entry]) => !isShown(entry, before[key]));
  const first = changed.find(([key, entry]) => !isSettingOut(entry, before[key])) ?? changed[0];
  if (first !== undefined) {
    const [key, entry] = first;
    return stale(
      `artifact ${entry.artifactIndex} is ${entry.reason ?? entry.phase}`,
      isSettingOut(entry, before[key]),
    );
  }
  if (entries.length !== Object.keys(before).length) return stale('an artifact has gone');
  const refused = deliveryOf(status.conditions);
  const isOver = refused !== undefined && isDeliveryOver(order) && now.getTime() >= quietAt(refused);
  return isOver ? stale('nothing has been refused for a while') : undefined;
}

/** Returns when time alone makes the status of an Order stale, in Unix milliseconds: a hold turns Invalid, a condition is dropped. */
export function staleAt({ metadata, status = {} }: Order): number | undefined {
  if (metadata.deletionTimestamp !== undefined) return undefined;
  const refused = deliveryOf(status.conditions);
  const waits = Object.values(status.artifactWorkflows ?? {}).map(({ phase, reason, since }) => {
    const began = phase === 'Pending' && needsPerson(reason) ? instantOf(since) : undefined;
    return began === undefined ? Number.POSITIVE_INFINITY : gracePeriodEnd(began);
  });
  const first = Math.min(...waits, refused === undefined ? Number.POSITIVE_INFINITY : quietAt(refused));
  return Number.isFinite(first) ? first : undefined;
}

/** Ignores `since`: the clock of the caller may be behind the clock that wrote it. */
function isShown({ since: _since, ...entry }: ArtifactStatus, before: ArtifactStatus | undefined): boolean {
  if (before === undefined) return false;
  const { since: _before, ...shown } = before;
  return sameJson(shown, entry);
}

const settingOut: ReadonlySet<string | undefined> = new Set(['Preparing', 'Starting']);

function isSettingOut(entry: ArtifactStatus, before: ArtifactStatus | undefined): boolean {
  return settingOut.has(entry.reason) && before !== undefined && settingOut.has(before.reason);
}

function entriesOf(order: Order, current: readonly CurrentVersion[], budget: EntryBudget, now: Date) {
  const entries: Record<string, ArtifactStatus> = {};
  const refusals = refusalsOf(order);
  for (const one of current) {
    const before = order.status?.artifactWorkflows?.[one.key];
    const entry = entryFor(one, budget, { before, refusals, now, isGoing: isDeleting(order) });
    entries[one.key] = before && sameJson(before, entry) ? before : entry;
  }
  return entries;
}

const countedAs: Readonly<Record<string, keyof OrderCounts>> = {
  Invalid: 'invalid',
  Pending: 'pending',
  Queued: 'pending',
  Active: 'pending',
  Running: 'running',
  Succeeded: 'succeeded',
  Failed: 'failed',
  Error: 'failed',
  Stopped: 'failed',
  Cancelled: 'cancelled',
} satisfies Record<WorkflowPhase | 'Invalid', keyof OrderCounts>;

function countsOf(entries: readonly ArtifactStatus[]): OrderCounts {
  const counts: OrderCounts = {
    total: entries.length,
    invalid: 0,
    pending: 0,
    running: 0,
    succeeded: 0,
    failed: 0,
    cancelled: 0,
  };
  // A scheduled artifact counts as running only during a run, which shows progress.
  for (const { phase, progress } of entries) {
    counts[phase === 'Active' && progress !== undefined ? 'running' : (countedAs[phase] ?? 'pending')] += 1;
  }
  return counts;
}

function phaseOf(
  order: Order,
  current: readonly CurrentVersion[],
  entries: readonly ArtifactStatus[],
  counts: OrderCounts,
): OrderPhase {
  if (counts.running > 0) return 'Running';
  if (counts.pending === 0) return endedPhase(order, counts);
  if (order.spec.suspend === true) return 'Suspended';
  const scheduled = current.filter((one) => isScheduled(one)).length;
  if (scheduled === counts.pending && entries.some(({ phase }) => phase === 'Active')) return 'Scheduled';
  return counts.succeeded + counts.failed > 0 ? 'Running' : 'Pending';
}

/** A failure beside artifacts that were cancelled one by one still counts; after the whole Order was cancelled it does not. */
function endedPhase({ spec }: Order, counts: OrderCounts): OrderPhase {
  if (counts.cancelled > 0 && (spec.cancel === true || !hasFailed(counts))) return 'Cancelled';
  return hasFailed(counts) ? 'Failed' : 'Succeeded';
}

function isScheduled({ workflow }: CurrentVersion): boolean {
  return workflow?.spec.cron !== undefined && artifactPhase(workflow) === 'Active';
}

const heldBack: { [Phase in OrderPhase]?: string } = {
  Suspended: '; suspended: nothing new is started',
  Cancelled: '; nothing more runs until the cancel is taken back',
};

function messageOf(phase: OrderPhase, counts: OrderCounts, { entry, others }: Headline): string {
  if (counts.total === 0) return 'the Order lists no artifacts';
  const parts = (['running', 'pending', 'failed', 'invalid', 'cancelled'] as const)
    .filter((name) => counts[name] > 0)
    .map((name) => `${counts[name]} ${name}`);
  const summary = [`${counts.succeeded} of ${counts.total} succeeded`, ...parts].join(', ');
  const held = heldBack[phase] ?? '';
  if (!entry) return summary + held;
  const label = entry.artifact === undefined ? '' : ` (${printable(entry.artifact)})`;
  const why = cut(entry.message ?? entry.phase, longestQuotedMessage).replace(/\.$/, '');
  const since = entry.since === undefined ? '' : ` (since ${entry.since})`;
  const more = others === 0 ? '' : `, and ${others} more`;
  // The summary already says that the Order itself is suspended.
  if (held && entry.reason === 'Suspended') return summary + held;
  return `${summary}${held}; artifact ${entry.artifactIndex}${label}: ${why}${since}${more}`;
}

/** The artifact that the Order's message quotes, and how many others are held for the same reason. */
interface Headline {
  entry?: ArtifactStatus;
  others: number;
}

/** Returns the first artifact that needs a person; without one, the first that waits. */
function headlineOf(entries: readonly ArtifactStatus[]): Headline {
  const plights = [
    ({ phase }: ArtifactStatus) => ['invalid', 'failed'].includes(countedAs[phase] ?? ''),
    ({ phase, message }: ArtifactStatus) => phase === 'Active' && isRunFailure(message),
    ({ reason }: ArtifactStatus) => needsPerson(reason),
    ({ reason }: ArtifactStatus) => reason !== undefined,
  ];
  for (const plight of plights) {
    const [entry, ...others] = entries.filter(plight).sort((a, b) => a.artifactIndex - b.artifactIndex);
    if (entry) return { entry, others: others.length };
  }
  return { others: 0 };
}

/** Returns the reason of the conditions: the hold if nothing of the Order runs, else its phase. */
function reasonOf(phase: OrderPhase, counts: OrderCounts, { entry }: Headline): string {
  if (counts.total === 0) return 'NoArtifacts';
  if (phase === 'Scheduled' && hasFailed(counts)) return entry?.reason ?? 'Failed';
  return phase === 'Pending' || phase === 'Failed' ? (entry?.reason ?? phase) : phase;
}

function hasFailed({ failed, invalid }: OrderCounts): boolean {
  return failed + invalid > 0;
}

function completionOf(
  phase: OrderPhase,
  before: OrderStatus,
  entries: readonly ArtifactStatus[],
  now: Date,
): string | undefined {
  if (phase !== 'Succeeded' && phase !== 'Failed') return undefined;
  const latest = entries
    .flatMap((entry) => entry.completionTime ?? [])
    .sort()
    .at(-1);
  return latest ?? before.completionTime ?? isoSeconds(now.getTime());
}

function earliest(children: readonly ArtifactWorkflow[]): string | undefined {
  return children.flatMap(({ status }) => status?.startTime ?? []).sort()[0];
}
