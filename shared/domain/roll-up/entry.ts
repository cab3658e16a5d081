import { instantOf, isoSeconds } from '#shared/base/meta';
import { revisionOf } from '../identity/artifact.ts';
import type { ArtifactWorkflow, ArtifactWorkflowStatus } from '../kinds/artifact-workflow.ts';
import type { ArtifactStatus } from '../kinds/order.ts';
import { annotations } from '../kinds/well-known.ts';
import { isCancelDue } from '../lifecycle/attempts.ts';
import { cancelling, going, holdOf, preparing } from '../lifecycle/current-hold.ts';
import { gracePeriodEnd, type Hold, isAbsence, isWrong, needsPerson } from '../lifecycle/holds.ts';
import { isFinalPhase, isStoppedByDeletion, phaseOf } from '../lifecycle/phases.ts';
import type { CurrentVersion } from '../plan/current.ts';
import { type Refusals, refusalFor } from '../plan/refusals.ts';
import { largestOrderStatus, longestDigest, longestMessage, shortestMessage } from '../values/limits.ts';
import { brief, cut } from '../values/text.ts';

/** Size limits of one artifact's entry, so that the whole Order fits into the store. */
export interface EntryBudget {
  /** Maximum bytes of a message, in JSON. */
  messageBytes: number;
  /** True if names, digest, bytes, attempts and a first revision are included; phase, index and completion time always are. */
  details: boolean;
}

/** Bytes of an entry without its message, and of its details. */
export const fixedBytes = 150;
export const detailBytes = 395;

/** Returns the budget of each entry of an Order with this many artifacts, independent of their messages. */
export function entryBudget(artifacts: number): EntryBudget {
  const each = largestOrderStatus / Math.max(1, artifacts);
  const details = each >= fixedBytes + detailBytes + 2 * shortestMessage;
  const left = Math.floor(each - fixedBytes - (details ? detailBytes : 0));
  return { details, messageBytes: Math.max(shortestMessage, Math.min(longestMessage, left)) };
}

/** Returns the part of an ArtifactWorkflow that its Order's status shows: if two states agree in it, roll-up-order has nothing to do. */
export function shownOf(workflow: ArtifactWorkflow): unknown {
  // Name and revision never change: they alone are no reason for a write.
  const { artifactWorkflow: _name, revision: _revision, ...shown } = fromWorkflow(workflow);
  return [shown, isStoppedByDeletion(workflow), workflow.status?.startTime ?? null];
}

/** True while the only news about an ArtifactWorkflow is that its Workflow is being prepared or started. */
export function isSettingOut(workflow: ArtifactWorkflow): boolean {
  const { reason } = holdOf(workflow) ?? {};
  return reason === 'Preparing' || reason === 'Starting';
}

/** The inputs of an entry, in addition to the artifact. */
export interface EntryContext {
  /** The previous entry. */
  before: ArtifactStatus | undefined;
  /** True while the Order is being deleted: nothing is created any more. */
  isGoing?: boolean;
  refusals: Refusals;
  /** By roll-up-order's clock, like `before.since`. */
  now: Date;
}

/**
 * Returns the entry of one artifact in the Order's status. `since` is preserved while the artifact is held for the same reason; a hold that
 * needs a person turns Invalid after `gracePeriodMs`.
 */
export function entryFor(
  current: CurrentVersion,
  budget: EntryBudget,
  { before, refusals, now, isGoing = false }: EntryContext,
): ArtifactStatus {
  const entry = bounded(plainEntry(current, refusals, isGoing ? going : preparing), budget);
  return entry.reason === undefined ? entry : sinceWhen(entry, before, now);
}

/** By `artifact` the name comes first in YAML, whose keys kubectl sorts. */
function namesOf(name: string): Pick<ArtifactStatus, 'artifact' | 'name'> {
  return { artifact: name, name };
}

/** `otherwise`: the hold of an artifact without an ArtifactWorkflow, if it has no other. */
function plainEntry(
  { artifact, workflow, recorded }: CurrentVersion,
  refusals: Refusals,
  otherwise: Hold,
): ArtifactStatus {
  const artifactIndex = artifact.index;
  const common = { artifactIndex, ...(artifact.name === undefined ? {} : namesOf(artifact.name)) };
  if (recorded) {
    // The user may have renamed the artifact since.
    const { artifact: _former, name: _same, ...end } = recorded;
    return { ...end, ...common };
  }
  // Recorded as ended, it would never be created again.
  const isRevived = workflow !== undefined && artifact.cancel !== true && isCancelledByOrder(workflow);
  if (workflow && !isStoppedByDeletion(workflow) && !isRevived)
    return { ...common, ...fromWorkflow(workflow) };
  if (artifact.cancel === true) return { ...common, phase: 'Cancelled' };
  const hold = artifact.state === 'held' ? artifact.hold : refusalFor(refusals, artifact.key);
  return { ...common, phase: 'Pending', ...(hold ?? otherwise) };
}

/** While the Order has undone its cancel and decompose-order has not yet updated the ArtifactWorkflow, Cancelled is not an end. */
function isCancelledByOrder(workflow: ArtifactWorkflow): boolean {
  return (
    phaseOf(workflow) === 'Cancelled' &&
    workflow.metadata.annotations?.[annotations.orderCancel] !== undefined
  );
}

function sinceWhen(entry: ArtifactStatus, before: ArtifactStatus | undefined, now: Date): ArtifactStatus {
  const { reason, message } = entry;
  const same = before?.reason === reason && (!isAbsence(reason) || before?.message === message);
  const began = same ? instantOf(before?.since) : undefined;
  // Another replica of roll-up-order may have written a time in the future of this clock.
  const since = began === undefined || began > now.getTime() ? now.getTime() : began;
  const lasts = same && (before?.phase === 'Invalid' || now.getTime() >= gracePeriodEnd(since));
  const isInvalid = isWrong(reason) || (needsPerson(reason) && lasts);
  return { ...entry, phase: isInvalid ? 'Invalid' : entry.phase, since: isoSeconds(since) };
}

function fromWorkflow(workflow: ArtifactWorkflow): Omit<ArtifactStatus, 'artifactIndex'> {
  const phase = phaseOf(workflow);
  const counted = countedOf(workflow);
  const hold = holdOf(workflow);
  if (hold) return { phase: phase === 'Queued' ? phase : 'Pending', ...hold, ...counted };
  const { status = {} } = workflow;
  const { copied = 0 } = status.results?.bytes ?? {};
  const running = phase === 'Running' || (phase === 'Active' && status.activeWorkflowRef !== undefined);
  const message = isCancelDue(workflow)
    ? cancelling.message
    : (status.message ?? (running ? againMessage(workflow) : undefined));
  return {
    phase,
    ...(message && phase !== 'Succeeded' ? { message } : {}),
    // A cancelled artifact has not finished: its entry records no end.
    ...(!isFinalPhase(phase) || phase === 'Cancelled' || status.completionTime === undefined
      ? {}
      : { completionTime: status.completionTime }),
    ...counted,
    ...(running ? runningOf(phase, status) : {}),
    ...(status.results?.digest === undefined ? {} : { digest: status.results.digest }),
    ...(phase === 'Succeeded' && copied > 0 ? { bytesCopied: copied } : {}),
  };
}

function countedOf(workflow: ArtifactWorkflow): Partial<ArtifactStatus> {
  const { attempts = 1 } = workflow.status ?? {};
  const revision = revisionOf(workflow);
  return {
    artifactWorkflow: workflow.metadata.name,
    ...(attempts > 1 ? { attempts } : {}),
    ...(revision > 0 ? { revision } : {}),
  };
}

function runningOf(phase: string, { progress = '0/1', startTime }: ArtifactWorkflowStatus) {
  // A schedule has started long before its run.
  return { progress, ...(phase === 'Running' && startTime !== undefined ? { since: startTime } : {}) };
}

function againMessage({ metadata }: ArtifactWorkflow): string | undefined {
  const cause = metadata.annotations?.[annotations.cause];
  return cause === undefined ? undefined : `it runs again: ${cause}`;
}

function bounded(entry: ArtifactStatus, budget: EntryBudget): ArtifactStatus {
  const {
    artifact,
    name: _same,
    attempts,
    digest,
    bytesCopied,
    message,
    artifactWorkflow,
    revision,
    ...rest
  } = entry;
  return {
    ...rest,
    ...(message === undefined ? {} : { message: cut(brief(message), budget.messageBytes) }),
    ...(budget.details && artifact !== undefined ? namesOf(artifact) : {}),
    ...(budget.details && artifactWorkflow !== undefined ? { artifactWorkflow } : {}),
    ...(revision !== undefined && (budget.details || revision > 1) ? { revision } : {}),
    ...(budget.details && attempts !== undefined ? { attempts } : {}),
    ...(budget.details && digest !== undefined ? { digest: digest.slice(0, longestDigest) } : {}),
    ...(budget.details && bytesCopied !== undefined ? { bytesCopied } : {}),
  };
}
