/** submit-workflow: an ArtifactWorkflow -> its Argo Workflow or CronWorkflow, one per attempt, and the end of it. */
import {
  type ArtifactWorkflow,
  artifactWorkflows,
  type CronWorkflow,
  cronWorkflows,
  currentWorkflow,
  decideSubmission,
  finalizers,
  isUnderWay,
  labels,
  needsRunning,
  type Submission,
  type Workflow,
  workflows,
} from '#shared/domain';
import { ArcError } from '#shared/errors';
import type { Context, Wake } from '#shared/runtime';
import { submit } from './submit.ts';
import { writeStatus } from './write.ts';

/** Does the next step for the ArtifactWorkflow. Rejects with what the broker is to retry. */
export async function handle(context: Context, wake: Wake): Promise<undefined> {
  const { api, signal } = context;
  const workflow = await api.get(artifactWorkflows, { namespace: wake.namespace, name: wake.name }, signal);
  if (workflow === undefined) return;
  await act(context, wake, workflow, await decide(context, wake, workflow));
}

async function decide(context: Context, wake: Wake, workflow: ArtifactWorkflow): Promise<Submission> {
  // Most wakes are progress of the Workflow: sync-status has something to do then, we do not.
  if (wake.reason === 'workflow' && isUnderWay(workflow)) return { action: 'none' };
  const inputs = {
    workflow,
    running: needsRunning(workflow) ? await runningOf(context, workflow) : undefined,
    siblings: [],
    now: context.now,
    options: optionsOf(context),
  };
  const alone = decideSubmission(inputs);
  // Only who is about to start has to know who else does.
  if (alone.action !== 'create') return alone;
  return decideSubmission({ ...inputs, siblings: await siblingsOf(context, workflow) });
}

function optionsOf({ env }: Context): { instanceId?: string } {
  const instanceId = env.ARGO_INSTANCE_ID;
  return instanceId === undefined || instanceId === '' ? {} : { instanceId };
}

async function runningOf(
  { api, signal }: Context,
  workflow: ArtifactWorkflow,
): Promise<Workflow | CronWorkflow | undefined> {
  const { kind, name } = currentWorkflow(workflow);
  const key = { ...namespaceOf(workflow), name };
  return kind === 'CronWorkflow' ? api.get(cronWorkflows, key, signal) : api.get(workflows, key, signal);
}

async function siblingsOf({ api, signal }: Context, workflow: ArtifactWorkflow): Promise<ArtifactWorkflow[]> {
  const { [labels.artifact]: artifact, [labels.order]: order } = workflow.metadata.labels ?? {};
  if (artifact === undefined || order === undefined) return [];
  const labelSelector = `${labels.artifact}=${artifact},${labels.order}=${order}`;
  return (await api.list(artifactWorkflows, { ...namespaceOf(workflow), labelSelector }, signal)).items;
}

function namespaceOf({ metadata }: ArtifactWorkflow): { namespace?: string } {
  return metadata.namespace === undefined ? {} : { namespace: metadata.namespace };
}

async function act(
  context: Context,
  wake: Wake,
  workflow: ArtifactWorkflow,
  step: Submission,
): Promise<void> {
  switch (step.action) {
    case 'hold':
      return setFinalizers(context, workflow, [...(workflow.metadata.finalizers ?? []), finalizers.workflow]);
    case 'create':
      return submit(context, wake, workflow, step);
    case 'adjust':
      await context.api.mergePatch(cronWorkflows, step.object.metadata, step.patch, {}, context.signal);
      return;
    case 'wait':
      if (step.status !== undefined) await writeStatus(context, workflow, step.status);
      context.log.debug({ artifactWorkflow: workflow.metadata.name }, step.message);
      return;
    case 'stop':
      return stop(context, step);
    case 'finish': {
      const rest = workflow.metadata.finalizers?.filter((name) => name !== finalizers.workflow) ?? [];
      return setFinalizers(context, workflow, rest);
    }
    case 'none':
  }
}

async function stop({ api, signal }: Context, step: Submission & { action: 'stop' }): Promise<void> {
  const { object, how } = step;
  const kind = object.kind === 'CronWorkflow' ? cronWorkflows : workflows;
  if (how === 'delete') {
    const { uid } = object.metadata;
    await api.delete(kind, object.metadata, uid === undefined ? {} : { uid }, signal);
    return;
  }
  const patch = { spec: { shutdown: 'Terminate' } };
  await unlessGone(api.mergePatch(workflows, object.metadata, patch, {}, signal));
}

async function setFinalizers(
  { api, signal }: Context,
  workflow: ArtifactWorkflow,
  wanted: string[],
): Promise<void> {
  const { resourceVersion } = workflow.metadata;
  const patch = { metadata: { resourceVersion, finalizers: wanted } };
  await unlessGone(api.mergePatch(artifactWorkflows, workflow.metadata, patch, {}, signal));
}

async function unlessGone(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (caught) {
    if (!ArcError.is(caught, 'NotFound')) throw caught;
  }
}
