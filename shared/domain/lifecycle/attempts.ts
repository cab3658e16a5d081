import { doubled } from '#shared/base/async';
import { cronWorkflowName, workflowName } from '../identity/names.ts';
import type { ArtifactWorkflow, WorkflowReference } from '../kinds/artifact-workflow.ts';
import { annotations, unixSeconds } from '../kinds/well-known.ts';
import { parseDuration } from '../values/duration.ts';
import { defaultBackoffMs, defaultRetries, longestBackoffMs } from '../values/limits.ts';
import { hasEnded, hasFailed, phaseOf, wasUnsuccessful } from './phases.ts';

/** Reasons of the worker after which another attempt cannot help. */
const permanentReasons = new Set(['permanent', 'denied', 'auth', 'config', 'denied-by-policy']);

/** True when nothing more happens by itself: the last attempt has ended and no other is owed. Includes Cancelled. */
export function isFinished(workflow: ArtifactWorkflow): boolean {
  if (phaseOf(workflow) === 'Cancelled') return workflow.spec.cancel === true;
  return hasEnded(workflow) && !wantsAttempt(workflow);
}

/**
 * True if another attempt follows the last one: because of the retry policy, an annotation, or a cancel that was undone. Never true while
 * `spec.cancel` is set.
 */
export function owesAttempt(workflow: ArtifactWorkflow): boolean {
  return hasEnded(workflow) && workflow.spec.cancel !== true && !isFinished(workflow);
}

/** True from the request to cancel until the ArtifactWorkflow has ended as Cancelled. Finished ArtifactWorkflows keep their phase. */
export function isCancelDue(workflow: ArtifactWorkflow): boolean {
  return workflow.spec.cancel === true && !isFinished(workflow);
}

function wantsAttempt(workflow: ArtifactWorkflow): boolean {
  return rerunRequested(workflow) !== undefined || retryAllowed(workflow);
}

/** Returns the time of a force-at or retry-at annotation (Unix seconds) that no attempt has answered yet. */
export function rerunRequested(workflow: ArtifactWorkflow): number | undefined {
  const { annotations: notes = {} } = workflow.metadata;
  const retryAt = wasUnsuccessful(workflow) ? unixSeconds(notes[annotations.retryAt]) : 0;
  const requested = Math.max(retryAt, unixSeconds(notes[annotations.forceAt]));
  return requested > (workflow.status?.workflowRef?.rerunAt ?? 0) ? requested : undefined;
}

/** Returns the retry-at time that the first attempt answers: the ArtifactWorkflow was made for the retry, or the retry came before it ran. */
export function retryAnswered({ metadata }: ArtifactWorkflow): number | undefined {
  return unixSeconds(metadata.annotations?.[annotations.retryAt]) || undefined;
}

/**
 * Returns the ServiceAccount whose absence ended the last attempt: Argo could not create the pods, nothing was transferred, and the next
 * attempt follows once the account exists.
 */
export function missingAccount(workflow: ArtifactWorkflow): string | undefined {
  const { message = '', results } = workflow.status ?? {};
  // A container that ran had its account: an account named in its message or log is another one.
  const hasRun = results?.outcome === 'failed' || message.includes('(exit code ');
  if (!hasFailed(workflow) || hasRun) return undefined;
  return /serviceaccounts? "([^"]+)" not found/.exec(message)?.[1];
}

function retryAllowed(workflow: ArtifactWorkflow): boolean {
  const { spec, status } = workflow;
  if (missingAccount(workflow) !== undefined) return true;
  if (!hasFailed(workflow) || permanentReasons.has(status?.results?.reason ?? '')) return false;
  // Other templates, and Argo itself, give no reason: nobody knows whether another attempt would help or do harm.
  const byDefault = status?.results?.reason === 'retryable' ? defaultRetries : 0;
  return (status?.attempts ?? 1) <= (spec.retry?.limit ?? byDefault);
}

/**
 * Returns when the next attempt after a failure is due, in Unix milliseconds by submit-workflow's clock: the recorded time, but at most one
 * backoff from `now`, because Argo dates the failure by its own clock.
 */
export function nextAttemptMs(workflow: ArtifactWorkflow, now: Date): number {
  const latest = now.getTime() + backoffMs(workflow);
  return Math.min(writtenAttemptMs(workflow) ?? latest, latest);
}

/** Returns the recorded time of the next attempt in Unix milliseconds; undefined before submit-workflow has recorded it. */
export function writtenAttemptMs({ status }: ArtifactWorkflow): number | undefined {
  const written = Date.parse(status?.nextAttemptTime ?? '');
  return Number.isNaN(written) ? undefined : written;
}

/** Exponential backoff, at most an hour. */
function backoffMs({ spec, status }: ArtifactWorkflow): number {
  const first = parseDuration(spec.retry?.backoff ?? '') ?? defaultBackoffMs;
  return Math.max(0, doubled(first, (status?.attempts ?? 1) - 1, longestBackoffMs));
}

/** Returns the Argo object of the current attempt; before the first submission, that of attempt 1. */
export function currentWorkflow({ metadata, spec, status }: ArtifactWorkflow): WorkflowReference {
  if (status?.workflowRef) return status.workflowRef;
  return referenceFor(metadata.name, spec.cron !== undefined, 1);
}

/** Returns the Argo object of one attempt. */
export function referenceFor(name: string, cron: boolean, attempt: number): WorkflowReference {
  return cron
    ? { kind: 'CronWorkflow', name: cronWorkflowName(name), attempt }
    : { kind: 'Workflow', name: workflowName(name, attempt), attempt };
}
