import {
  type ArtifactWorkflow,
  annotations,
  artifactWorkflows,
  cronWorkflows,
  finalizers,
  type Submission,
  workflows,
} from '#shared/domain';
import { addFinalizer, ignoreNotFound, removeFinalizer, uidOf, writeStatus } from '#shared/function-kit';
import { isoSeconds } from '#shared/meta';
import type { Context, Wake } from '#shared/runtime';
import { submit } from './submit.ts';

/** Does what was decided for the ArtifactWorkflow. Each write is guarded or safe to repeat. */
export async function act(
  context: Context,
  wake: Wake,
  workflow: ArtifactWorkflow,
  step: Submission,
): Promise<void> {
  switch (step.action) {
    case 'none':
      return;
    case 'hold':
      await addFinalizer(context, artifactWorkflows, workflow, finalizers.workflow);
      return;
    case 'create':
      return submit(context, wake, workflow, step);
    case 'patch':
      await context.api.mergePatch(cronWorkflows, step.object.metadata, step.patch, {}, context.signal);
      return;
    case 'wait':
      await writeStatus(context, artifactWorkflows, workflow, step.status ?? {});
      context.log.debug({ artifactWorkflow: workflow.metadata.name }, step.message);
      return;
    case 'stop':
      return stop(context, step);
    case 'finish':
      return removeFinalizer(context, artifactWorkflows, workflow, finalizers.workflow);
  }
}

async function stop({ api, signal, now }: Context, step: Submission & { action: 'stop' }): Promise<void> {
  const { object, how } = step;
  if (how === 'delete') {
    const kind = object.kind === 'CronWorkflow' ? cronWorkflows : workflows;
    await api.delete(kind, object.metadata, uidOf(object), signal);
    return;
  }
  const note = { annotations: { [annotations.cancelledAt]: isoSeconds(now.getTime()) } };
  const patch = { ...(how === 'cancel' ? { metadata: note } : {}), spec: { shutdown: 'Terminate' } };
  await ignoreNotFound(api.mergePatch(workflows, object.metadata, patch, {}, signal));
}
