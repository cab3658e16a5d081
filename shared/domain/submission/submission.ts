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
import { type Hold, type HoldReason, isOutOfSight } from '../lifecycle/holds.ts';
import { isDeleting, isHeld } from '../lifecycle/phases.ts';
import { isAhead, mayStart, placeInUse } from './place.ts';
import { isUnreleased, unreleased } from './release.ts';
import { overwrittenBy } from './sharing.ts';
import { lostRuns, recentlyStoppedRuns, stopBegan, stopGraceMs, stoppedRuns } from './stopped.ts';
import { type WorkflowOptions, workflowFor } from './workflow.ts';

export interface SubmissionInputs {
  workflow: ArtifactWorkflow;
  /** The Argo object that `currentWorkflow` names, if it exists. */
  running: Workflow | CronWorkflow | undefined;
  /** Those that must not run beside it (`rivalSelectors`); may include `workflow`. */
  rivals: readonly ArtifactWorkflow[];
  /** True while the ServiceAccount is absent without which the last attempt could not start its pods. */
  lacksAccount?: boolean;
  now: Date;
  options?: WorkflowOptions;
}

export type Submission =
  /** Put our finalizer on; the change wakes us again. Nothing may be created before that. */
  | { action: 'hold' }
  /** Once the pods of the Workflows `after` have ended: write `status` first, guarded by resourceVersion, then create `object`, which is suspended (that it exists already is success), then release it. */
  | {
      action: 'create';
      object: Workflow | CronWorkflow;
      status: StatusPatch;
      after: string[];
      /** Of another Order, which has put there what is overwritten now. */
      overwritten: ArtifactWorkflow | undefined;
      /** Those that may be about to start too: write `told` to the status of each first, guarded by its resourceVersion. */
      tell: ArtifactWorkflow[];
      told: StatusPatch;
    }
  /** Release the Argo object, if the ArtifactWorkflow is still as it was read; or suspend or resume a schedule. */
  | { action: 'release'; object: Workflow | CronWorkflow; suspend: boolean }
  /** `until`: when to look again; write it as nextAttemptTime where `status` is given. */
  | { action: 'wait'; message: string; until?: Date; status?: StatusPatch }
  /**
   * `shutdown`: patch spec.shutdown to Terminate; `cancel`: and note in the Workflow why. `delete`: delete the object. `discard`: delete the
   * object, which has never run, guarded by resourceVersion: it may have been released. `status` is written before. Then look again, at
   * `until` at the latest.
   */
  | {
      action: 'stop';
      how: 'shutdown' | 'cancel' | 'delete' | 'discard';
      object: Workflow | CronWorkflow;
      until: Date;
      status?: StatusPatch;
    }
  /** Everything is stopped: take our finalizer off, once the pods of the Workflows `after` have ended. */
  | { action: 'finish'; after: string[] }
  /** See to it that the pods of the Workflows `after`, which were stopped, end too. */
  | { action: 'end'; after: string[] }
  | { action: 'none' };

/** What submit-workflow writes into the status; null takes a field away. */
export type StatusPatch = Partial<Pick<ArtifactWorkflowStatus, 'workflowRef' | 'attempts'>> & {
  nextAttemptTime?: string | null;
  waitReason?: HoldReason | null;
  waitMessage?: string | null;
  stopSince?: string | null;
};

/** False where `decideSubmission` takes the same action whatever Argo object there is: then it need not be read. */
export function needsRunning(workflow: ArtifactWorkflow): boolean {
  if (isDeleting(workflow)) return isHeld(workflow);
  if (workflow.spec.cancel === true) return workflow.status?.workflowRef !== undefined;
  if (isFinished(workflow) || !isHeld(workflow) || owesAttempt(workflow)) return false;
  const { workflowRef, configSecret } = workflow.status ?? {};
  return workflowRef !== undefined || (configSecret !== undefined && workflow.spec.suspend !== true);
}

/** What submit-workflow has to do for one ArtifactWorkflow. Limits per Endpoint (maxInFlight) are not part of it yet. */
export function decideSubmission(inputs: SubmissionInputs): Submission {
  const { workflow, running } = inputs;
  if (isDeleting(workflow)) return decideStop(workflow, running, inputs.now);
  if (workflow.spec.cancel === true) return decideCancel(workflow, running, inputs.now);
  if (isFinished(workflow)) return { action: 'none' };
  if (!isHeld(workflow)) return { action: 'hold' };
  if (owesAttempt(workflow)) return decideNextAttempt(inputs);
  if (running && !isOwnedBy(running, workflow)) {
    const title = `${running.kind} "${running.metadata.name}"`;
    if (isOfPredecessor(running, workflow)) {
      const message = `${title} of an earlier ArtifactWorkflow of the same name is being removed`;
      return waitFor(workflow, { reason: 'Preparing', message });
    }
    const message = `${title} exists and has another owner: delete or rename it`;
    return waitFor(workflow, { reason: 'NameTaken', message });
  }
  if (running && workflow.status?.workflowRef) return decideRelease(workflow, running);
  return decideStart(inputs, workflow.status?.workflowRef?.attempt ?? 1);
}

/** True for what belongs to an ArtifactWorkflow that had the name before: the garbage collector removes it, and nobody else need do anything. */
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
  // An Order must never hang because Argo is gone, or a node: the garbage collector removes what is left.
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

/** Stops what runs of one that is cancelled, and starts nothing. sync-status sees the end, or that there is nothing to stop. */
function decideCancel(
  workflow: ArtifactWorkflow,
  found: Workflow | CronWorkflow | undefined,
  now: Date,
): Submission {
  const running = found && isOwnedBy(found, workflow) ? found : undefined;
  if (!running || isDeleting(running)) return { action: 'none' };
  if (isOver(running)) {
    // One that ended as Cancelled has no pod left: sync-status waited for that.
    if (isFinished(workflow)) return { action: 'none' };
    const after = running.spec.shutdown === undefined ? [] : stoppedRuns(workflow, running);
    return after.length === 0 ? { action: 'none' } : { action: 'end', after };
  }
  const asked = Date.parse(running.metadata.annotations?.[annotations.cancelledAt] ?? '');
  const isAsked = !Number.isNaN(asked);
  const until = new Date((isAsked ? asked : now.getTime()) + stopGraceMs);
  // After it is taken back, the pods are waited for from then on.
  const status = { stopSince: isoSeconds(until.getTime() - stopGraceMs) };
  if (isUnreleased(running)) return { action: 'stop', how: 'discard', object: running, until, status };
  // Without Argo nothing ends it: the garbage collector stops the pods of a Workflow that is deleted.
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
  // What was cancelled and taken back has not failed: it waits for nothing.
  if (rerunAt !== undefined || status.phase === 'Cancelled') return decideStart(inputs, attempt, rerunAt);
  const due = nextAttemptMs(workflow, now);
  if (now.getTime() >= due) return decideStart(inputs, attempt);
  // Whole seconds, rounded up: a wake at the written time must not come too early.
  const until = new Date(Math.ceil(due / 1000) * 1000);
  const text = isoSeconds(until.getTime());
  const message = `attempt ${attempt} is due at ${text}`;
  // Nothing holds it up but the time: what another one has told it is over.
  const waits = { nextAttemptTime: text, waitReason: null, waitMessage: null };
  const written = status.nextAttemptTime === text && status.waitReason === undefined;
  return { action: 'wait', message, until, ...(written ? {} : { status: waits }) };
}

function decideStart(inputs: SubmissionInputs, attempt: number, rerunAt?: number): Submission {
  const { workflow, rivals, options } = inputs;
  const { spec, status = {}, metadata } = workflow;
  if (spec.suspend === true) return { action: 'wait', message: 'suspended' };
  if (inputs.lacksAccount) return { action: 'wait', message: 'its ServiceAccount does not exist' };
  // render-secret deletes the Secret and this field after the last attempt; a rerun renders it again.
  if (!status.configSecret) return { action: 'wait', message: 'its configuration has not been rendered yet' };
  const ahead = rivals.find((rival) => isAhead(rival, workflow));
  if (ahead) return waitFor(workflow, placeInUse(ahead));
  const rerun = rerunAt ?? (status.workflowRef ? status.workflowRef.rerunAt : retryAnswered(workflow));
  const reference = {
    ...referenceFor(metadata.name, spec.cron !== undefined, attempt),
    ...(rerun === undefined ? {} : { rerunAt: rerun }),
  };
  return {
    action: 'create',
    object: unreleased(workflowFor(workflow, attempt, options)),
    overwritten: overwrittenBy(workflow, rivals),
    tell: rivals.filter((rival) => mayStart(rival, workflow)),
    told: { waitReason: 'PlaceInUse', waitMessage: placeInUse(workflow).message },
    after: [
      ...new Set([...lostRuns(workflow, attempt), ...recentlyStoppedRuns([workflow, ...rivals], inputs.now)]),
    ],
    status: {
      workflowRef: reference,
      attempts: attempt,
      ...(status.nextAttemptTime === undefined ? {} : { nextAttemptTime: null }),
      ...(status.stopSince === undefined ? {} : { stopSince: null }),
      // Its turn has come. A refusal stays until the Workflow exists: one that lasts must not come and go with each try.
      ...(status.waitReason === undefined || isOutOfSight(status.waitReason)
        ? {}
        : { waitReason: null, waitMessage: null }),
    },
  };
}

/** Waits, and says for what in the status. */
function waitFor({ status = {} }: ArtifactWorkflow, { reason, message }: Hold): Submission {
  return status.waitMessage === message && status.waitReason === reason
    ? { action: 'wait', message }
    : { action: 'wait', message, status: { waitReason: reason, waitMessage: message } };
}

/** Releases what is recorded as in force, and keeps a schedule as suspended as its ArtifactWorkflow. */
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
  const { phase } = object.status ?? {};
  return phase === 'Succeeded' || phase === 'Failed' || phase === 'Error';
}
