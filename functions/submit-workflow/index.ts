/** submit-workflow: an ArtifactWorkflow -> its Argo Workflow or CronWorkflow, one per attempt, started and stopped. */
import {
  type ArtifactWorkflow,
  artifactWorkflows,
  cronWorkflows,
  decideSubmission,
  finalizers,
  isUnderWay,
  needsRunning,
  type Submission,
  versionSelector,
  workflows,
} from '#shared/domain';
import {
  addFinalizer,
  ignoreNotFound,
  namespaceOf,
  readWorkflow,
  removeFinalizer,
  uidOf,
  writeStatus,
} from '#shared/function-kit';
import type { Context, Wake } from '#shared/runtime';
import { submit } from './submit.ts';

/** Does the next step for the ArtifactWorkflow. Rejects with what the broker is to retry. */
export async function handle(context: Context, wake: Wake): Promise<undefined> {
  const workflow = await context.api.get(artifactWorkflows, wake, context.signal);
  if (workflow === undefined) return;
  // Most wakes report progress of the Workflow, which concerns sync-status only.
  if (wake.reason === 'workflow' && isUnderWay(workflow)) return;
  await act(context, wake, workflow, await decide(context, workflow));
}

async function decide(context: Context, workflow: ArtifactWorkflow): Promise<Submission> {
  const instanceId = context.env.ARGO_INSTANCE_ID;
  const inputs = {
    workflow,
    running: needsRunning(workflow) ? await readWorkflow(context, workflow) : undefined,
    siblings: [],
    now: context.now,
    options: instanceId === undefined || instanceId === '' ? {} : { instanceId },
  };
  const alone = decideSubmission(inputs);
  // Only a start depends on the other versions of the artifact.
  if (alone.action !== 'create') return alone;
  return decideSubmission({ ...inputs, siblings: await readSiblings(context, workflow) });
}

/** The versions of the artifact, the given one included. */
async function readSiblings(
  { api, signal }: Context,
  workflow: ArtifactWorkflow,
): Promise<ArtifactWorkflow[]> {
  const labelSelector = versionSelector(workflow);
  if (labelSelector === undefined) return [];
  return (await api.list(artifactWorkflows, { ...namespaceOf(workflow), labelSelector }, signal)).items;
}

async function act(
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

async function stop({ api, signal }: Context, step: Submission & { action: 'stop' }): Promise<void> {
  const { object, how } = step;
  if (how === 'delete') {
    const kind = object.kind === 'CronWorkflow' ? cronWorkflows : workflows;
    await api.delete(kind, object.metadata, uidOf(object), signal);
    return;
  }
  const patch = { spec: { shutdown: 'Terminate' } };
  await ignoreNotFound(api.mergePatch(workflows, object.metadata, patch, {}, signal));
}
