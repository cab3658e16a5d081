import { isOwnedBy, isoSeconds, ownerOfKind } from '#shared/base/meta';
import type { CronWorkflow, Workflow } from '../kinds/argo.ts';
import type { ArtifactWorkflow, ArtifactWorkflowStatus } from '../kinds/artifact-workflow.ts';
import { annotations } from '../kinds/well-known.ts';
import {
  isFinished,
  nextAttemptMs,
  owesAttempt,
  referenceFor,
  rerunRequested,
  retryAnswered,
} from '../lifecycle/attempts.ts';
import { type Hold, type HoldReason, holdStatus, isUnwatched } from '../lifecycle/holds.ts';
import { isCompleted, isDeleting, isHeld } from '../lifecycle/phases.ts';
import { hasLostOwner } from './adopt.ts';
import { isAhead, mayStart, overwrittenBy, placeInUse } from './place.ts';
import { lostRuns, recentlyStoppedRuns, stopBegan, stopGraceMs, stoppedRuns } from './stopped.ts';
import { isUnreleased, unreleased, type WorkflowOptions, workflowFor } from './workflow.ts';

export interface SubmissionInputs {
  workflow: ArtifactWorkflow;
  /** The Argo object that `currentWorkflow` names, if it exists. */
  running: Workflow | CronWorkflow | undefined;
  /** The ArtifactWorkflows that must not run beside it (`conflictSelectors`); may include `workflow`. */
  conflicting: readonly ArtifactWorkflow[];
  /** True while the ServiceAccount whose absence ended the last attempt does not exist. */
  lacksAccount?: boolean;
  now: Date;
  options?: WorkflowOptions;
}

export type Submission =
  /** Add our finalizer; the change requeues the object. Nothing may be created before. */
  | { action: 'hold' }
  /** Once the pods of `after` have ended: write `status` (guarded), create `object`, suspended (AlreadyExists is success), and release it. */
  | {
      action: 'create';
      object: Workflow | CronWorkflow;
      status: StatusPatch;
      after: string[];
      /** Of another Order, whose result is overwritten. */
      overwritten: ArtifactWorkflow | undefined;
      /** Workflows whose start may be in flight: `competingStatus` is written to the status of each first, guarded by its resourceVersion. */
      competing: ArtifactWorkflow[];
      competingStatus: StatusPatch;
    }
  /** Release the Argo object if the ArtifactWorkflow is unchanged; or suspend or resume a schedule. */
  | { action: 'release'; object: Workflow | CronWorkflow; suspend: boolean }
  /** `until`: when to try again; written as nextAttemptTime if `status` is given. */
  | { action: 'wait'; message: string; until?: Date; status?: StatusPatch }
  /**
   * `shutdown`: set spec.shutdown to Terminate; `cancel`: also annotate the Workflow with the reason. `delete`: delete the object. `discard`:
   * delete the object, which has never run, guarded by resourceVersion because it may have been released. `status` is written before. Then try
   * again, at `until` at the latest.
   */
  | {
      action: 'stop';
      how: 'shutdown' | 'cancel' | 'delete' | 'discard';
      object: Workflow | CronWorkflow;
      until: Date;
      status?: StatusPatch;
    }
  /** Everything is stopped: remove our finalizer, once the pods of the Workflows `after` have ended. */
  | { action: 'finish'; after: string[] }
  /** Make sure that the pods of the stopped Workflows `after` end too. */
  | { action: 'end'; after: string[] }
  | { action: 'none' };

/** The status fields that submit-workflow writes; null removes a field. */
export type StatusPatch = Partial<Pick<ArtifactWorkflowStatus, 'workflowRef' | 'attempts'>> & {
  nextAttemptTime?: string | null;
  waitReason?: HoldReason | null;
  waitMessage?: string | null;
  stopSince?: string | null;
};

/** False if `decideSubmission` takes the same action whatever the Argo object: then it need not be read. */
export function needsRunning(workflow: ArtifactWorkflow): boolean {
  if (isDeleting(workflow)) return isHeld(workflow);
  if (workflow.spec.cancel === true) return workflow.status?.workflowRef !== undefined;
  if (isFinished(workflow) || !isHeld(workflow) || owesAttempt(workflow)) return false;
  const { workflowRef, configSecret } = workflow.status ?? {};
  return workflowRef !== undefined || (configSecret !== undefined && workflow.spec.suspend !== true);
}

/** Decides what submit-workflow has to do for one ArtifactWorkflow. The limits (maxInFlight, parallelism) are applied by the caller. */
export function decideSubmission(inputs: SubmissionInputs): Submission {
  const { workflow, running } = inputs;
  if (isDeleting(workflow)) return decideStop(workflow, running, inputs.now);
  if (workflow.spec.cancel === true) return decideCancel(workflow, running, inputs.now);
  if (isFinished(workflow)) return { action: 'none' };
  if (!isHeld(workflow)) return { action: 'hold' };
  if (owesAttempt(workflow)) return decideNextAttempt(inputs);
  // Its creation finds it, and gives it an owner again.
  const isLost = running !== undefined && hasLostOwner(running);
  if (running && !isLost && !isOwnedBy(running, workflow)) {
    const title = `${running.kind} "${running.metadata.name}"`;
    if (isOfPredecessor(running, workflow)) {
      const message = `${title} of an earlier ArtifactWorkflow of the same name is being removed`;
      return waitFor(workflow, { reason: 'Preparing', message });
    }
    const message = `${title} exists and has another owner: delete or rename it`;
    return waitFor(workflow, { reason: 'NameTaken', message });
  }
  if (running && !isLost && workflow.status?.workflowRef) return decideRelease(workflow, running);
  return decideStart(inputs, workflow.status?.workflowRef?.attempt ?? 1);
}

/** True for an object of an earlier ArtifactWorkflow of the same name: the garbage collector removes it. */
export function isOfPredecessor(object: Workflow | CronWorkflow, { metadata }: ArtifactWorkflow): boolean {
  const owner = ownerOfKind(object, 'ArtifactWorkflow');
  return owner !== undefined && owner.name === metadata.name && owner.uid !== metadata.uid;
}

function decideStop(
  workflow: ArtifactWorkflow,
  found: Workflow | CronWorkflow | undefined,
  now: Date,
): Submission {
  if (!isHeld(workflow)) return { action: 'none' };
  const running = found && isOwnedBy(found, workflow) ? found : undefined;
  const began = stopBegan(workflow, now);
  const since = now.getTime() - began;
  // An Order must never hang on a missing Argo or a lost node: the garbage collector removes the rest.
  if (since >= 2 * stopGraceMs) return { action: 'finish', after: [] };
  if (!running || isOver(running)) return { action: 'finish', after: stoppedRuns(workflow, running) };
  const escalation = new Date(began + stopGraceMs);
  const end = new Date(began + 2 * stopGraceMs);
  const status = { stopSince: isoSeconds(began) };
  if (isDeleting(running))
    return { action: 'wait', message: 'its Workflow is being deleted', until: end, status };
  if (isUnreleased(running)) return { action: 'stop', how: 'discard', object: running, until: end, status };
  if (isCron(running) || since >= stopGraceMs) {
    return { action: 'stop', how: 'delete', object: running, until: end, status };
  }
  if (running.spec.shutdown)
    return { action: 'wait', message: 'its Workflow is stopping', until: escalation, status };
  return { action: 'stop', how: 'shutdown', object: running, until: escalation, status };
}

/** Stops the run of a cancelled ArtifactWorkflow, and starts nothing. sync-status records the end, or that there was nothing to stop. */
function decideCancel(
  workflow: ArtifactWorkflow,
  found: Workflow | CronWorkflow | undefined,
  now: Date,
): Submission {
  const running = found && isOwnedBy(found, workflow) ? found : undefined;
  if (!running || isDeleting(running)) return { action: 'none' };
  if (isOver(running)) {
    // An ArtifactWorkflow that ended as Cancelled has no pod left: sync-status waited for that.
    if (isFinished(workflow)) return { action: 'none' };
    const after = running.spec.shutdown === undefined ? [] : stoppedRuns(workflow, running);
    return after.length === 0 ? { action: 'none' } : { action: 'end', after };
  }
  const asked = Date.parse(running.metadata.annotations?.[annotations.cancelledAt] ?? '');
  const isAsked = !Number.isNaN(asked);
  const until = new Date((isAsked ? asked : now.getTime()) + stopGraceMs);
  // If the cancel is undone, the pods are waited for from this time.
  const status = { stopSince: isoSeconds(until.getTime() - stopGraceMs) };
  if (isUnreleased(running)) return { action: 'stop', how: 'discard', object: running, until, status };
  // Without Argo nothing ends the Workflow: after its deletion the garbage collector stops its pods.
  if (isCron(running) || (isAsked && now >= until))
    return { action: 'stop', how: 'delete', object: running, until, status };
  if (isAsked) return { action: 'wait', message: 'its Workflow is stopping', until };
  return { action: 'stop', how: 'cancel', object: running, until, status };
}

function decideNextAttempt(inputs: SubmissionInputs): Submission {
  const { workflow, now } = inputs;
  const { status = {} } = workflow;
  const attempt = (status.attempts ?? status.workflowRef?.attempt ?? status.syncedAttempt ?? 1) + 1;
  const rerunAt = rerunRequested(workflow);
  // An undone cancel is not a failure: no backoff.
  if (rerunAt !== undefined || status.phase === 'Cancelled') return decideStart(inputs, attempt, rerunAt);
  const due = nextAttemptMs(workflow, now);
  if (now.getTime() >= due) return decideStart(inputs, attempt);
  // Whole seconds, rounded up: an event at the recorded time must not come too early.
  const until = new Date(Math.ceil(due / 1000) * 1000);
  const text = isoSeconds(until.getTime());
  const message = `attempt ${attempt} is due at ${text}`;
  // Only the backoff is left to wait for: an earlier hold is over.
  const waits = { nextAttemptTime: text, ...holdStatus() };
  const written = status.nextAttemptTime === text && status.waitReason === undefined;
  return { action: 'wait', message, until, ...(written ? {} : { status: waits }) };
}

function decideStart(inputs: SubmissionInputs, attempt: number, rerunAt?: number): Submission {
  const { workflow, conflicting, options } = inputs;
  const { spec, status = {}, metadata } = workflow;
  if (spec.suspend === true) return { action: 'wait', message: 'suspended' };
  if (inputs.lacksAccount) return { action: 'wait', message: 'its ServiceAccount does not exist' };
  // render-secret removes the Secret and this field after the last attempt; a rerun renders the Secret again.
  if (!status.configSecret) return { action: 'wait', message: 'its configuration has not been rendered yet' };
  const ahead = conflicting.find((other) => isAhead(other, workflow));
  if (ahead) return waitFor(workflow, placeInUse(ahead));
  const rerun = rerunAt ?? (status.workflowRef ? status.workflowRef.rerunAt : retryAnswered(workflow));
  const reference = {
    ...referenceFor(metadata.name, spec.cron !== undefined, attempt),
    ...(rerun === undefined ? {} : { rerunAt: rerun }),
  };
  return {
    action: 'create',
    object: unreleased(workflowFor(workflow, attempt, options)),
    overwritten: overwrittenBy(workflow, conflicting),
    competing: conflicting.filter((other) => mayStart(other, workflow)),
    competingStatus: holdStatus(placeInUse(workflow)),
    after: [
      ...new Set([
        ...lostRuns(workflow, attempt),
        ...recentlyStoppedRuns([workflow, ...conflicting], inputs.now),
      ]),
    ],
    status: {
      workflowRef: reference,
      attempts: attempt,
      ...(status.nextAttemptTime === undefined ? {} : { nextAttemptTime: null }),
      ...(status.stopSince === undefined ? {} : { stopSince: null }),
      // Its turn has come. A refusal stays recorded until the Workflow exists: a lasting refusal must not flicker with each retry.
      ...(status.waitReason === undefined || isUnwatched(status.waitReason) ? {} : holdStatus()),
    },
  };
}

/** Waits, and records the hold in the status. */
function waitFor({ status = {} }: ArtifactWorkflow, hold: Hold): Submission {
  const { reason, message } = hold;
  const isWritten = status.waitMessage === message && status.waitReason === reason;
  return { action: 'wait', message, ...(isWritten ? {} : { status: holdStatus(hold) }) };
}

/** Releases the recorded Argo object, and keeps a schedule suspended or not like its ArtifactWorkflow. */
function decideRelease(workflow: ArtifactWorkflow, running: Workflow | CronWorkflow): Submission {
  if (isDeleting(running)) return { action: 'none' };
  const suspend = workflow.spec.suspend === true;
  const held = isUnreleased(running);
  if (!isCron(running) && suspend && held) return { action: 'wait', message: 'suspended' };
  const asWanted = !isCron(running) || (running.spec.suspend === true) === suspend;
  if (!held && asWanted) return { action: 'none' };
  return { action: 'release', object: running, suspend };
}

function isCron(object: Workflow | CronWorkflow): object is CronWorkflow {
  return object.kind === 'CronWorkflow';
}

function isOver(object: Workflow | CronWorkflow): boolean {
  if (isCron(object)) return false;
  return isCompleted(object.status?.phase);
}
