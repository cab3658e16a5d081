/** submit-workflow: starts and stops the Argo Workflow or CronWorkflow of an ArtifactWorkflow, one per attempt. */

import {
  missingRight,
  namespaceOf,
  readArtifactWorkflow,
  readWorkflow,
  recordRequest,
  removeFinalizer,
  writeStatus,
} from '#shared/conduit/function-kit';
import type { Context, StepEvent } from '#shared/conduit/runtime';
import {
  type ArtifactWorkflow,
  artifactWorkflows,
  decideSubmission,
  finalizers,
  type Hold,
  hasEnded,
  holdStatus,
  isDeleting,
  missingAccount,
  needsRunning,
  type Submission,
  serviceAccounts,
  startSelectors,
} from '#shared/domain';
import { act } from './act.ts';
import { giveSlotsBack, readConflicting } from './slots.ts';

/** Each may read `listBytes`, which is rare: usual lists are of one target. */
export const concurrency = 8;

/** Takes the next step for the ArtifactWorkflow. Rejects with transient errors, for the broker to retry. */
export async function handle(context: Context, event: StepEvent): Promise<undefined> {
  const workflow = await readArtifactWorkflow(context, event);
  if (workflow === undefined) return;
  await recordRequest(context, workflow, 'submit-workflow');
  try {
    if (hasEnded(workflow)) await giveSlotsBack(context, workflow);
    await act(context, workflow, await decide(context, workflow));
  } catch (caught) {
    const hold = missingRight(caught, workflow);
    if (hold === undefined) throw caught;
    await withoutRights(context, workflow, hold);
  }
}

/**
 * Handles missing rights: the namespace was not given to ARC, the rights were withdrawn, or they were deleted before the rest of a terminating
 * namespace. A deletion must not hang on that: the garbage collector removes a Workflow whose owner is gone. Anything else waits.
 */
async function withoutRights(context: Context, workflow: ArtifactWorkflow, hold: Hold): Promise<void> {
  if (isDeleting(workflow)) return removeFinalizer(context, artifactWorkflows, workflow, finalizers.workflow);
  if (workflow.status?.waitReason === hold.reason) return;
  await writeStatus(context, artifactWorkflows, workflow, holdStatus(hold));
}

async function decide(context: Context, workflow: ArtifactWorkflow): Promise<Submission> {
  const instanceId = context.env.ARGO_INSTANCE_ID;
  const inputs = {
    workflow,
    running: needsRunning(workflow) ? await readWorkflow(context, workflow) : undefined,
    conflicting: [],
    now: context.now,
    options: instanceId === undefined || instanceId === '' ? {} : { instanceId },
  };
  const alone = decideSubmission(inputs);
  // Only a start depends on the other writers to the same place.
  if (alone.action !== 'create') return alone;
  const [conflicting, lacksAccount] = await Promise.all([
    readConflicting(context, workflow, startSelectors(workflow)),
    isAccountAbsent(context, workflow),
  ]);
  return decideSubmission({ ...inputs, conflicting, lacksAccount });
}

/** Asks only after an attempt that ended because its ServiceAccount was missing. */
async function isAccountAbsent({ api, signal }: Context, workflow: ArtifactWorkflow): Promise<boolean> {
  const name = missingAccount(workflow);
  if (name === undefined) return false;
  return (await api.get(serviceAccounts, { ...namespaceOf(workflow), name }, signal)) === undefined;
}
