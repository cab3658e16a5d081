import { isoSeconds } from '#shared/base/meta';
import { addFinalizer, recordEvent, writeStatus } from '#shared/conduit/function-kit';
import type { Context } from '#shared/conduit/runtime';
import {
  type ArtifactWorkflow,
  annotations,
  artifactWorkflows,
  finalizers,
  holdStatus,
  type StatusPatch,
  type Submission,
} from '#shared/domain';
import { change, remove } from './argo.ts';
import { endPods, finish, havePodsEnded } from './finish.ts';
import { returnToLine, takeSlots } from './slots.ts';
import { release, submit, waitNoMore } from './submit.ts';

/** Carries out the decision for the ArtifactWorkflow. Each write is guarded or idempotent. */
export async function act(context: Context, workflow: ArtifactWorkflow, step: Submission): Promise<void> {
  switch (step.action) {
    case 'none':
      return;
    case 'hold':
      await addFinalizer(context, artifactWorkflows, workflow, finalizers.workflow);
      return;
    case 'create':
      return start(context, workflow, step);
    case 'release': {
      const ready = await waitNoMore(context, workflow);
      if (ready) await release(context, ready, step.object, step.suspend);
      return;
    }
    case 'wait':
      if (step.status) await wait(context, workflow, step.status);
      context.log.debug({ artifactWorkflow: workflow.metadata.name }, step.message);
      return;
    case 'stop':
      if (await writeStatus(context, artifactWorkflows, workflow, step.status ?? {}))
        await stop(context, step);
      return;
    case 'end':
      await endPods(context, workflow, step.after);
      return;
    case 'finish':
      return finish(context, workflow, step.after);
  }
}

async function start(
  context: Context,
  workflow: ArtifactWorkflow,
  step: Submission & { action: 'create' },
): Promise<void> {
  if (!(await havePodsEnded(context, workflow, step.after))) return;
  // While an ArtifactWorkflow waits for its place it is not in line: siblings would ignore the slot that it takes.
  const isOver = workflow.status?.waitReason === 'PlaceInUse';
  const inLine = isOver ? await waitNoMore(context, workflow) : workflow;
  if (inLine === undefined) return;
  if (isOver) await returnToLine(context, inLine);
  const hold = await takeSlots(context, inLine);
  if (hold === undefined) return submit(context, inLine, step);
  await wait(context, inLine, holdStatus(hold));
}

async function stop(context: Context, { object, how }: Submission & { action: 'stop' }): Promise<void> {
  if (how === 'delete' || how === 'discard') return remove(context, object, { unchanged: how === 'discard' });
  const note = { annotations: { [annotations.cancelledAt]: isoSeconds(context.now.getTime()) } };
  const patch = { ...(how === 'cancel' ? { metadata: note } : {}), spec: { shutdown: 'Terminate' } };
  return change(context, object, patch);
}

/** Records the hold of an ArtifactWorkflow, with an Event when the reason changes. A changed position in the line is no reason for an Event. */
export async function wait(context: Context, workflow: ArtifactWorkflow, status: StatusPatch): Promise<void> {
  const written = await writeStatus(context, artifactWorkflows, workflow, status);
  const found = written && waitOf(workflow, status);
  if (found === undefined) return;
  await recordEvent(context, { ...found, regarding: workflow, type: 'Normal', component: 'submit-workflow' });
}

function waitOf({ status: before = {} }: ArtifactWorkflow, status: StatusPatch) {
  const { nextAttemptTime, waitReason, waitMessage } = status;
  if (typeof nextAttemptTime === 'string' && nextAttemptTime !== before.nextAttemptTime)
    return {
      reason: 'Retrying',
      message: `attempt ${(before.attempts ?? 1) + 1} follows at ${nextAttemptTime}`,
    } as const;
  if (!waitReason || waitReason === before.waitReason) return undefined;
  return { reason: waitReason, message: waitMessage ?? 'it waits' };
}
