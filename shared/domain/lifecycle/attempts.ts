import { doubled } from '#shared/base/async';
import { cronWorkflowName, workflowName } from '../identity/names.ts';
import type { ArtifactWorkflow, WorkflowReference } from '../kinds/artifact-workflow.ts';
import { annotations, unixSeconds } from '../kinds/well-known.ts';
import { parseDuration } from '../values/duration.ts';
import { defaultBackoffMs, defaultRetries, longestBackoffMs } from '../values/limits.ts';
import { hasEnded, hasFailed, phaseOf, wasUnsuccessful } from './phases.ts';

/** Reasons of the worker for which another attempt cannot help. */
const permanentReasons = new Set(['permanent', 'denied', 'auth', 'config', 'denied-by-policy']);

/** True when nothing more will happen by itself: ended, and no attempt is wanted; Cancelled, and not taken back. */
export function isFinished(workflow: ArtifactWorkflow): boolean {
  if (phaseOf(workflow) === 'Cancelled') return workflow.spec.cancel === true;
  return hasEnded(workflow) && !wantsAttempt(workflow);
}

/**
 * True if an attempt is to follow the one that ended: the retry policy or an annotation asks for it, or the cancel was taken back.
 * None follows while `spec.cancel` is set.
 */
export function owesAttempt(workflow: ArtifactWorkflow): boolean {
  return hasEnded(workflow) && workflow.spec.cancel !== true && !isFinished(workflow);
}

/** True from the wish to cancel it until it has ended as Cancelled. What had finished before stays what it was. */
export function isCancelDue(workflow: ArtifactWorkflow): boolean {
  return workflow.spec.cancel === true && !isFinished(workflow);
}

function wantsAttempt(workflow: ArtifactWorkflow): boolean {
  return rerunRequested(workflow) !== undefined || retryAllowed(workflow);
}

/** The time of a force-at or retry-at annotation (Unix seconds) that no attempt has answered yet. */
export function rerunRequested(workflow: ArtifactWorkflow): number | undefined {
  const { annotations: notes = {} } = workflow.metadata;
  const retryAt = wasUnsuccessful(workflow) ? unixSeconds(notes[annotations.retryAt]) : 0;
  const requested = Math.max(retryAt, unixSeconds(notes[annotations.forceAt]));
  return requested > (workflow.status?.workflowRef?.rerunAt ?? 0) ? requested : undefined;
}

/** The time of the retry-at that the first attempt answers: what was made for it, or asked to run before it had. */
export function retryAnswered({ metadata }: ArtifactWorkflow): number | undefined {
  return unixSeconds(metadata.annotations?.[annotations.retryAt]) || undefined;
}

/**
 * The name of the ServiceAccount whose absence ended the last attempt: Argo could not make its pods, so nothing was moved, and the next
 * attempt follows when the account is there.
 */
export function missingAccount(workflow: ArtifactWorkflow): string | undefined {
  const { message = '', results } = workflow.status ?? {};
  // A container that ran had its account: what it says, or what is quoted of its log, is about another one.
  const hasRun = results?.outcome === 'failed' || message.includes('(exit code ');
  if (!hasFailed(workflow) || hasRun) return undefined;
  return /serviceaccounts? "([^"]+)" not found/.exec(message)?.[1];
}

function retryAllowed(workflow: ArtifactWorkflow): boolean {
  const { spec, status } = workflow;
  if (missingAccount(workflow) !== undefined) return true;
  if (!hasFailed(workflow) || permanentReasons.has(status?.results?.reason ?? '')) return false;
  // Failures of other templates, and of Argo, give no reason: nobody says that another attempt can help or does no harm.
  const byDefault = status?.results?.reason === 'retryable' ? defaultRetries : 0;
  return (status?.attempts ?? 1) <= (spec.retry?.limit ?? byDefault);
}

/**
 * When the next attempt after a failure is due, in Unix milliseconds by submit-workflow's clock: as it has written, but no later than a whole
 * backoff from `now`. The clock of Argo, which dates the failure, may be another.
 */
export function nextAttemptMs(workflow: ArtifactWorkflow, now: Date): number {
  const latest = now.getTime() + backoffMs(workflow);
  return Math.min(writtenAttemptMs(workflow) ?? latest, latest);
}

/** When the next attempt is due as submit-workflow has written it, in Unix milliseconds; undefined until it has. */
export function writtenAttemptMs({ status }: ArtifactWorkflow): number | undefined {
  const written = Date.parse(status?.nextAttemptTime ?? '');
  return Number.isNaN(written) ? undefined : written;
}

/** Doubled per attempt, at most an hour. */
function backoffMs({ spec, status }: ArtifactWorkflow): number {
  const first = parseDuration(spec.retry?.backoff ?? '') ?? defaultBackoffMs;
  return Math.max(0, doubled(first, (status?.attempts ?? 1) - 1, longestBackoffMs));
}

/** The Argo object of the attempt in force; before the first submission, that of attempt 1. */
export function currentWorkflow({ metadata, spec, status }: ArtifactWorkflow): WorkflowReference {
  if (status?.workflowRef) return status.workflowRef;
  return referenceFor(metadata.name, spec.cron !== undefined, 1);
}

/** The Argo object of one attempt. */
export function referenceFor(name: string, cron: boolean, attempt: number): WorkflowReference {
  return cron
    ? { kind: 'CronWorkflow', name: cronWorkflowName(name), attempt }
    : { kind: 'Workflow', name: workflowName(name, attempt), attempt };
}
