import { bytesText } from '#shared/base/errors';
import type { ArtifactWorkflow, TransferCounts } from '../kinds/artifact-workflow.ts';
import type { EventReason } from '../lifecycle/event-reasons.ts';
import { isDeleting, phaseOf } from '../lifecycle/phases.ts';
import { brief } from '../values/text.ts';

/** An Event on the ArtifactWorkflow about an attempt. */
export interface AttemptEvent {
  type: 'Normal' | 'Warning';
  reason: EventReason;
  message: string;
}

/**
 * Returns the transition of an attempt that a write of sync-status shows, if any: it queues, runs again or has ended; for a schedule, its last
 * run. None for the start of a first attempt: Argo records an Event on the Workflow, and every ArtifactWorkflow starts.
 * Equal transitions have equal texts, so that repetitions count up one Event. None while the object is being deleted.
 */
export function attemptEvent(before: ArtifactWorkflow, after: ArtifactWorkflow): AttemptEvent | undefined {
  if (isDeleting(after)) return undefined;
  if (after.spec.cron) return runEvent(before, after);
  const phase = phaseOf(after);
  const sameAttempt = before.status?.syncedAttempt === after.status?.syncedAttempt;
  return phase === phaseOf(before) && sameAttempt ? undefined : phaseEvent(after, phase);
}

function phaseEvent(after: ArtifactWorkflow, phase: string): AttemptEvent | undefined {
  const { attempts = 1, message, workflowRef } = after.status ?? {};
  const attempt = attempts > 1 ? `attempt ${attempts}` : 'the transfer';
  switch (phase) {
    case 'Queued':
      return normal('Queued', message ?? 'it waits in a queue');
    case 'Running':
      if (attempts === 1) return undefined;
      return normal('Started', `${attempt} runs as Workflow "${workflowRef?.name ?? after.metadata.name}"`);
    case 'Succeeded':
      return normal('Succeeded', arrival(after));
    case 'Cancelled':
      return normal('Cancelled', brief(message ?? 'cancelled'));
    case 'Failed':
    case 'Error':
      return {
        type: 'Warning',
        reason: 'Failed',
        message: brief(message ?? `${attempt} failed without a message`),
      };
    case 'Stopped':
      return { type: 'Warning', reason: 'Stopped', message: `${attempt} was stopped from outside` };
    default:
      return undefined;
  }
}

function runEvent(before: ArtifactWorkflow, after: ArtifactWorkflow): AttemptEvent | undefined {
  const [old, now] = [before.status ?? {}, after.status ?? {}];
  if (phaseOf(after) === 'Cancelled')
    return phaseOf(before) === 'Cancelled' ? undefined : phaseEvent(after, 'Cancelled');
  if (isRunFailure(now.message) && now.message !== old.message)
    return { type: 'Warning', reason: 'Failed', message: brief(now.message) };
  if ((now.succeeded ?? 0) > (old.succeeded ?? 0))
    return normal('Succeeded', `a run of its schedule: ${arrival(after)}`);
  const run = now.activeWorkflowRef?.name;
  return run !== undefined && run !== old.activeWorkflowRef?.name
    ? normal('Started', 'a run of its schedule started')
    : undefined;
}

function normal(reason: EventReason, message: string): AttemptEvent {
  return { type: 'Normal', reason, message };
}

function arrival({ status = {} }: ArtifactWorkflow): string {
  const { digest, bytes, repaired } = status.results ?? {};
  const what = digest === undefined ? 'it has arrived' : `${digest} has arrived`;
  const how = bytes === undefined ? [] : shares(bytes);
  const arrived = how.length === 0 ? what : `${what} (${how.join(', ')})`;
  if (repaired === undefined) return arrived;
  const { manifests = 0, blobs = 0 } = repaired;
  return `${arrived}; repaired ${counted(blobs, 'blob')} and ${counted(manifests, 'manifest')} that the destination had lost`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function shares({ copied = 0, existed = 0, mounted = 0 }: TransferCounts): string[] {
  return [
    ...(copied > 0 ? [`${bytesText(copied)} copied`] : []),
    ...(mounted > 0 ? [`${bytesText(mounted)} mounted`] : []),
    ...(existed > 0 ? [`${bytesText(existed)} there already`] : []),
  ];
}

/** True for the message of a schedule whose last run failed (`runFailure`) or could not start (`startFailure`). */
export function isRunFailure(message: string | undefined): message is string {
  return message !== undefined && (/^run \S+ failed/.test(message) || isStartFailure(message));
}

/** Returns the beginning of the failure message of a scheduled run: its name tells the failures of two runs apart. */
export function runFailure(run: string): string {
  return `run ${run} failed`;
}

const notStarted = 'Argo cannot start its runs';

/** Returns the message of a schedule for which Argo cannot create a run. */
export function startFailure(why: string): string {
  return `${notStarted}: ${why}`;
}

/** True for the result of `startFailure`. */
export function isStartFailure(message: string): boolean {
  return message.startsWith(notStarted);
}
