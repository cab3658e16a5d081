/** sync-status: the Workflow of an ArtifactWorkflow -> its phase, message, progress, results and conditions, and what subscribers are told of it. */
import type { CloudEvent } from 'cloudevents';
import {
  type ArtifactWorkflow,
  artifactMilestone,
  artifactWorkflows,
  type CronWorkflow,
  cronWorkflows,
  currentWorkflow,
  isOwnedBy,
  labels,
  type SyncPatch,
  syncedStatus,
  type Workflow,
  workflows,
} from '#shared/domain';
import { ArcError } from '#shared/errors';
import { artifactEvent } from '#shared/events';
import { emitEvent, patchStatus } from '#shared/kube';
import type { Context, Wake } from '#shared/runtime';

/**
 * Carries up what the Workflow says, where it differs, and replies with the domain event that this makes due, if one is. Rejects with
 * what the broker is to retry.
 */
export async function handle(context: Context, wake: Wake): Promise<CloudEvent<unknown> | undefined> {
  const { api, signal, now } = context;
  const workflow = await api.get(artifactWorkflows, { namespace: wake.namespace, name: wake.name }, signal);
  if (workflow === undefined) return undefined;
  const { argo, run } = await argoOf(context, workflow);
  const status = syncedStatus(workflow, argo, now, run === undefined ? {} : { run });
  if (status === undefined) return undefined;
  const written = await patchStatus(api, artifactWorkflows, workflow, status, signal);
  if (written === undefined) return undefined;
  await tellFailure(context, workflow, status);
  const milestone = artifactMilestone(workflow, written, now);
  return milestone && artifactEvent(written, milestone);
}

interface Argo {
  argo: Workflow | CronWorkflow | undefined;
  /** The newest run of a CronWorkflow. */
  run?: Workflow | undefined;
}

async function argoOf({ api, signal }: Context, workflow: ArtifactWorkflow): Promise<Argo> {
  const { kind, name } = currentWorkflow(workflow);
  const { namespace } = workflow.metadata;
  const where = namespace === undefined ? {} : { namespace };
  if (kind === 'Workflow') return { argo: await api.get(workflows, { ...where, name }, signal) };
  const labelSelector = `${labels.artifactWorkflow}=${workflow.metadata.name}`;
  const [argo, runs] = await Promise.all([
    api.get(cronWorkflows, { ...where, name }, signal),
    api.list(workflows, { ...where, labelSelector }, signal),
  ]);
  // Anybody can write a label; what counts is what the schedule has started.
  return { argo, run: argo && newest(runs.items.filter((run) => isOwnedBy(run, argo))) };
}

function newest(runs: readonly Workflow[]): Workflow | undefined {
  const born = ({ metadata }: Workflow) => metadata.creationTimestamp ?? '';
  return runs.reduce<Workflow | undefined>(
    (last, run) => (last === undefined || born(run) > born(last) ? run : last),
    undefined,
  );
}

async function tellFailure(
  { api, log, now, signal }: Context,
  workflow: ArtifactWorkflow,
  status: SyncPatch,
): Promise<void> {
  if (status.phase !== 'Failed' && status.phase !== 'Error') return;
  const message = status.message ?? workflow.status?.message ?? 'the Workflow failed and did not say why';
  try {
    await emitEvent(
      api,
      { regarding: workflow, type: 'Warning', reason: 'Failed', message, component: 'sync-status', now },
      signal,
    );
  } catch (caught) {
    // The status is written; failing the delivery over its announcement would help nobody.
    log.warn({ err: ArcError.from(caught) }, 'the Event could not be recorded');
  }
}
