/** sync-status: copies phase, message, progress, results and conditions of a Workflow to its ArtifactWorkflow. */

import { ArcError } from '#shared/base/errors';
import { isOwnedBy } from '#shared/base/meta';
import {
  ignoreNotFound,
  namespaceOf,
  readArtifactWorkflow,
  readWorkflow,
  recordEvent,
  writeStatus,
} from '#shared/conduit/function-kit';
import type { Context, StepEvent } from '#shared/conduit/runtime';
import {
  type ArtifactWorkflow,
  artifactWorkflows,
  attemptEvent,
  type CronWorkflow,
  isLabelValue,
  labels,
  stepToQuote,
  syncedStatus,
  type Workflow,
  workflows,
} from '#shared/domain';
import { readTail } from './log-tail.ts';
import { readQueuePlace } from './queue-place.ts';
import { isStopping } from './stopping.ts';

/** Copies the state of the Workflow to the status of its ArtifactWorkflow, if it differs. Rejects with transient errors, for the broker to retry. */
export async function handle(context: Context, event: StepEvent): Promise<void> {
  const { now } = context;
  const artifactWorkflow = await readArtifactWorkflow(context, event);
  if (artifactWorkflow === undefined) return;
  const { workflow, isUnreadable } = await read(context, artifactWorkflow);
  const run = workflow && (await newestRun(context, workflow, artifactWorkflow));

  const place = workflow?.kind === 'Workflow' ? await readQueuePlace(context, workflow) : undefined;
  const bare = syncedStatus(artifactWorkflow, workflow, now, { run, isUnreadable, place });
  if (bare === undefined) return;
  if (bare.phase === 'Cancelled' && (await isStopping(context, artifactWorkflow))) return;
  const step = stepToQuote(artifactWorkflow, workflow, bare, run);
  const tail = step && (await readTail(context, step));
  const status = tail
    ? (syncedStatus(artifactWorkflow, workflow, now, { run, tail, isUnreadable }) ?? bare)
    : bare;

  const written = await writeStatus(context, artifactWorkflows, artifactWorkflow, status);
  if (written === undefined) return;
  const note = attemptEvent(artifactWorkflow, written);
  if (note) await recordEvent(context, { ...note, regarding: artifactWorkflow, component: 'sync-status' });
}

/** The right to read CronWorkflows is cluster-wide, and missing where schedules are switched off. */
async function read(context: Context, artifactWorkflow: ArtifactWorkflow) {
  try {
    return { workflow: await readWorkflow(context, artifactWorkflow), isUnreadable: false };
  } catch (caught) {
    if (artifactWorkflow.spec.cron === undefined || !ArcError.is(caught, 'Forbidden')) throw caught;
    return { workflow: undefined, isUnreadable: true };
  }
}

/**
 * Returns the newest Workflow that a CronWorkflow has started. Anybody can write the selected label; the owner reference decides. Argo labels
 * its Workflows with the name of the CronWorkflow, which always fits a label value.
 */
async function newestRun(
  { api, signal }: Context,
  schedule: Workflow | CronWorkflow,
  { metadata }: ArtifactWorkflow,
): Promise<Workflow | undefined> {
  if (schedule.kind !== 'CronWorkflow') return undefined;
  const labelSelector = isLabelValue(metadata.name)
    ? `${labels.artifactWorkflow}=${metadata.name}`
    : `${labels.argoCronWorkflow}=${schedule.metadata.name}`;
  // Argo may be uninstalled between both reads.
  const found = await ignoreNotFound(
    api.list(workflows, { ...namespaceOf(schedule), labelSelector }, signal),
  );
  const created = (run: Workflow) => run.metadata.creationTimestamp ?? '';
  return found?.items
    .filter((run) => isOwnedBy(run, schedule))
    .reduce<Workflow | undefined>(
      (last, run) => (last === undefined || created(run) > created(last) ? run : last),
      undefined,
    );
}
