import { isOwnedBy, isoSeconds, sameJson } from '#shared/meta';
import { compareAge } from '../identity/artifact.ts';
import type { CronWorkflow, Workflow } from '../kinds/argo.ts';
import type { ArtifactWorkflow, ArtifactWorkflowStatus } from '../kinds/artifact-workflow.ts';
import {
  isFinished,
  nextAttemptMs,
  owesAttempt,
  referenceFor,
  rerunRequested,
} from '../lifecycle/attempts.ts';
import { hasEnded, isDeleting, isHeld } from '../lifecycle/phases.ts';
import { type WorkflowOptions, workflowFor } from './workflow.ts';

/** How long a Workflow may take to end after its shutdown, before it is deleted; and again as long until it is left to the garbage collector. */
export const stopGraceMs = 60_000;

export interface SubmissionInputs {
  workflow: ArtifactWorkflow;
  /** The Argo object that `currentWorkflow` names, if it exists. */
  running: Workflow | CronWorkflow | undefined;
  /** Other ArtifactWorkflows with the same Order and `arc.opendefense.cloud/artifact` label; may include `workflow`. */
  siblings: readonly ArtifactWorkflow[];
  now: Date;
  options?: WorkflowOptions;
}

export type Submission =
  /** Put our finalizer on; the change wakes us again. Nothing may be created before that. */
  | { action: 'hold' }
  /** Write `status` first, guarded by resourceVersion, then create `object`; that it exists already is success. */
  | { action: 'create'; object: Workflow | CronWorkflow; status: StatusPatch }
  /** Merge-patch the CronWorkflow. */
  | { action: 'patch'; object: CronWorkflow; patch: object }
  /** `until`: when to look again; write it as nextAttemptTime where `status` is given. */
  | { action: 'wait'; message: string; until?: Date; status?: StatusPatch }
  /** `shutdown`: patch spec.shutdown to Terminate. `delete`: delete the object. Then look again, at `until` at the latest. */
  | { action: 'stop'; how: 'shutdown' | 'delete'; object: Workflow | CronWorkflow; until: Date }
  /** Everything is stopped: take our finalizer off. */
  | { action: 'finish' }
  | { action: 'none' };

type StatusPatch = Partial<Pick<ArtifactWorkflowStatus, 'workflowRef' | 'attempts'>> & {
  nextAttemptTime?: string | null;
};

/** False where `decideSubmission` takes the same action whatever Argo object there is: then it need not be read. */
export function needsRunning(workflow: ArtifactWorkflow): boolean {
  if (isDeleting(workflow)) return isHeld(workflow);
  if (isFinished(workflow) || !isHeld(workflow) || owesAttempt(workflow)) return false;
  const { workflowRef, configSecret } = workflow.status ?? {};
  return workflowRef !== undefined || (configSecret !== undefined && workflow.spec.suspend !== true);
}

/**
 * True when its Workflow has been submitted and is to run on. A wake for that Workflow then needs no action: its
 * disappearance would wake again.
 */
export function isUnderWay(workflow: ArtifactWorkflow): boolean {
  if (isDeleting(workflow) || isFinished(workflow) || !isHeld(workflow) || owesAttempt(workflow))
    return false;
  return workflow.status?.workflowRef?.kind === 'Workflow';
}

/** What submit-workflow has to do for one ArtifactWorkflow. Limits per Endpoint (maxInFlight) are not part of it yet. */
export function decideSubmission(inputs: SubmissionInputs): Submission {
  const { workflow, running } = inputs;
  if (isDeleting(workflow)) return decideStop(workflow, running, inputs.now);
  if (isFinished(workflow)) return { action: 'none' };
  if (!isHeld(workflow)) return { action: 'hold' };
  if (owesAttempt(workflow)) return decideNextAttempt(inputs);
  if (running && !isOwnedBy(running, workflow)) {
    return {
      action: 'wait',
      message: `a ${running.kind} "${running.metadata.name}" of another owner is in the way`,
    };
  }
  if (running && workflow.status?.workflowRef) return decidePatch(workflow, running);
  return decideStart(inputs, workflow.status?.workflowRef?.attempt ?? 1);
}

function decideStop(
  workflow: ArtifactWorkflow,
  found: Workflow | CronWorkflow | undefined,
  now: Date,
): Submission {
  if (!isHeld(workflow)) return { action: 'none' };
  const running = found && isOwnedBy(found, workflow) ? found : undefined;
  if (!running || isOver(running)) return { action: 'finish' };
  const requested = Date.parse(workflow.metadata.deletionTimestamp ?? '');
  const since = now.getTime() - (Number.isNaN(requested) ? 0 : requested);
  // An Order must never hang because Argo is gone: the garbage collector removes what is left.
  if (since >= 2 * stopGraceMs) return { action: 'finish' };
  const escalation = new Date(requested + stopGraceMs);
  const end = new Date(requested + 2 * stopGraceMs);
  if (isDeleting(running)) return { action: 'wait', message: 'its Workflow is being deleted', until: end };
  if (isCron(running) || since >= stopGraceMs) {
    return { action: 'stop', how: 'delete', object: running, until: end };
  }
  if (running.spec.shutdown)
    return { action: 'wait', message: 'its Workflow is stopping', until: escalation };
  return { action: 'stop', how: 'shutdown', object: running, until: escalation };
}

function decideNextAttempt(inputs: SubmissionInputs): Submission {
  const { workflow, now } = inputs;
  const { status = {} } = workflow;
  const attempt = (status.attempts ?? status.workflowRef?.attempt ?? 1) + 1;
  const rerunAt = rerunRequested(workflow);
  if (rerunAt !== undefined) return decideStart(inputs, attempt, rerunAt);
  const due = nextAttemptMs(workflow);
  if (now.getTime() >= due) return decideStart(inputs, attempt);
  // Whole seconds, rounded up: a wake at the written time must not come too early.
  const until = new Date(Math.ceil(due / 1000) * 1000);
  const text = isoSeconds(until.getTime());
  const message = `attempt ${attempt} is due at ${text}`;
  const written = status.nextAttemptTime === text;
  return { action: 'wait', message, until, ...(written ? {} : { status: { nextAttemptTime: text } }) };
}

function decideStart(inputs: SubmissionInputs, attempt: number, rerunAt?: number): Submission {
  const { workflow, siblings, options } = inputs;
  const { spec, status = {}, metadata } = workflow;
  if (spec.suspend === true) return { action: 'wait', message: 'suspended' };
  // render-secret deletes the Secret and this field after the last attempt; a rerun renders it again.
  if (!status.configSecret) return { action: 'wait', message: 'its configuration has not been rendered yet' };
  const ahead = siblings.find((sibling) => isAhead(sibling, workflow));
  if (ahead)
    return {
      action: 'wait',
      message: `ArtifactWorkflow "${ahead.metadata.name}" of the same artifact has not ended`,
    };
  const rerun = rerunAt ?? status.workflowRef?.rerunAt;
  const reference = {
    ...referenceFor(metadata.name, spec.cron !== undefined, attempt),
    ...(rerun === undefined ? {} : { rerunAt: rerun }),
  };
  return {
    action: 'create',
    object: workflowFor(workflow, attempt, options),
    status: {
      workflowRef: reference,
      attempts: attempt,
      ...(status.nextAttemptTime === undefined ? {} : { nextAttemptTime: null }),
    },
  };
}

/**
 * True while `sibling` has, or is next to have, the artifact's one running Workflow. Of two that have none yet the older goes
 * first: the younger one always sees it.
 */
function isAhead(sibling: ArtifactWorkflow, workflow: ArtifactWorkflow): boolean {
  if (sibling.metadata.name === workflow.metadata.name) return false;
  if (isDeleting(sibling)) return isHeld(sibling);
  if (hasEnded(sibling) && !owesAttempt(sibling)) return false;
  if (sibling.status?.workflowRef && !hasEnded(sibling)) return true;
  return !workflow.status?.workflowRef && compareAge(sibling, workflow) < 0;
}

function decidePatch(workflow: ArtifactWorkflow, running: Workflow | CronWorkflow): Submission {
  if (!isCron(running) || isDeleting(running)) return { action: 'none' };
  const suspend = workflow.spec.suspend === true;
  if (sameJson(running.spec.suspend === true, suspend)) return { action: 'none' };
  return { action: 'patch', object: running, patch: { spec: { suspend: suspend || null } } };
}

function isCron(object: Workflow | CronWorkflow): object is CronWorkflow {
  return object.kind === 'CronWorkflow';
}

function isOver(object: Workflow | CronWorkflow): boolean {
  if (isCron(object)) return false;
  const { phase } = object.status ?? {};
  return phase === 'Succeeded' || phase === 'Failed' || phase === 'Error';
}
