import { ArcError, printableLines } from '#shared/base/errors';
import { isOwnedBy, type KubeObject, ownerOfKind } from '#shared/base/meta';
import {
  isRefusal,
  missingRight,
  namespaceOf,
  readArtifactWorkflow,
  recordEvent,
  writeStatus,
} from '#shared/conduit/function-kit';
import type { Context } from '#shared/conduit/runtime';
import {
  type ArtifactWorkflow,
  artifactIdOf,
  artifactWorkflows,
  type CronWorkflow,
  type Hold,
  hasEnded,
  hasLostOwner,
  holdStatus,
  isOfPredecessor,
  isUnreleased,
  ownerPatch,
  releasePatch,
  type Submission,
  type Workflow,
} from '#shared/domain';
import { change, create, remove } from './argo.ts';
import { giveSlotsBack } from './slots.ts';

/** W3C trace context of the event that the Workflow was created for. */
const traceAnnotation = 'arc.opendefense.cloud/traceparent';

/**
 * Writes to ArtifactWorkflows that could start at the same time; records the reference to the Workflow, guarded, so that two replicas cannot start
 * different Workflows; creates the Workflow suspended; releases it. After a crash at any point the next event continues: an existing Workflow
 * of ours is a success.
 */
export async function submit(
  context: Context,
  workflow: ArtifactWorkflow,
  { object, status, overwritten, competing, competingStatus }: Submission & { action: 'create' },
): Promise<void> {
  for (const other of competing) await writeStatus(context, artifactWorkflows, other, competingStatus);
  const recorded = await writeStatus(context, artifactWorkflows, workflow, status);
  if (recorded === undefined) return;
  const present = await createOwn(context, recorded, object);
  // Another one may run in its place until the retry. After the status write, which decides who is next.
  if (present === undefined) return giveSlotsBack(context, recorded);
  const ready = await waitNoMore(context, recorded);
  if (ready && isUnreleased(present)) await release(context, ready, present);
  if (ready && overwritten !== undefined) await announceSharing(context, workflow, overwritten);
}

/** Clears the hold. Only after the Workflow exists: a lasting refusal must not flicker with each retry. */
export function waitNoMore(
  context: Context,
  workflow: ArtifactWorkflow,
): Promise<ArtifactWorkflow | undefined> {
  return writeStatus(context, artifactWorkflows, workflow, holdStatus());
}

/**
 * Releases the Workflow if the ArtifactWorkflow has not changed since it was read. A function that finished with the ArtifactWorkflow meanwhile
 * may have found no Workflow, so the ArtifactWorkflow is read again once the Workflow exists. Rejects with Conflict if it has changed.
 */
export async function release(
  context: Context,
  workflow: ArtifactWorkflow,
  object: Workflow | CronWorkflow,
  suspend = false,
): Promise<void> {
  const { metadata } = workflow;
  const { name, namespace = '' } = metadata;
  const artifact = artifactIdOf(workflow);
  const now = await readArtifactWorkflow(context, { name, namespace, ...(artifact && { artifact }) });
  if (now?.metadata.resourceVersion === metadata.resourceVersion)
    return change(context, object, releasePatch(suspend));
  // Nobody would remove it soon, and a successor may need its name.
  const isNeeded = now !== undefined && now.metadata.uid === metadata.uid && !hasEnded(now);
  if (!isNeeded && isUnreleased(object)) await remove(context, object, { unchanged: true });
  throw new ArcError(
    'Conflict',
    `ArtifactWorkflow "${metadata.name}" changed before its Workflow was released`,
  );
}

/** Creates the Workflow with the trace context, or returns the existing one; undefined if it was refused, which the status and a Warning report. */
async function createOwn(
  context: Context,
  workflow: ArtifactWorkflow,
  plain: Workflow | CronWorkflow,
): Promise<Workflow | CronWorkflow | undefined> {
  const object = context.trace === undefined ? plain : traced(plain, context.trace.traceparent);
  const title = `${object.kind} "${object.metadata.name}"`;
  try {
    const found = await create(context, object);
    const present = hasLostOwner(found) ? await ownedAgain(context, workflow, found) : found;
    if (isOwnedBy(present, workflow)) return present;
    // Retried until the garbage collector has removed it.
    if (isOfPredecessor(present, workflow))
      throw new ArcError('Conflict', `${title} of an earlier ArtifactWorkflow still exists`);
    const message = `${title} exists and has another owner: delete or rename it`;
    await report(context, workflow, { reason: 'NameTaken', message });
  } catch (caught) {
    if (!isRefusal(caught)) throw caught;
    await report(context, workflow, refusal(caught, workflow, title));
  }
  return undefined;
}

/** What ran for the ArtifactWorkflow that a restored backup did not have, with an owner again. */
async function ownedAgain(
  context: Context,
  workflow: ArtifactWorkflow,
  object: Workflow | CronWorkflow,
): Promise<Workflow | CronWorkflow> {
  const patch = ownerPatch(object, workflow);
  await change(context, object, patch);
  const { ownerReferences } = patch.metadata;
  return { ...object, metadata: { ...object.metadata, ownerReferences } };
}

function traced<T extends Workflow | CronWorkflow>(object: T, traceparent: string): T {
  const annotations = { ...object.metadata.annotations, [traceAnnotation]: traceparent };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

function refusal(caught: ArcError, workflow: ArtifactWorkflow, title: string): Hold {
  const right = missingRight(caught, workflow);
  if (right) return right;
  // The message for a missing namespace names it; the message for a missing kind does not.
  if (ArcError.is(caught, 'NotFound') && !caught.message.startsWith('namespaces '))
    return { reason: 'ArgoMissing', message: `cannot create ${title}: install Argo Workflows` };
  return { reason: 'SubmissionFailed', message: `cannot create ${title}: ${caught.message}` };
}

/** Reports what a person has to change: in the status, and as a Warning if that has changed. */
async function report(
  context: Context,
  workflow: ArtifactWorkflow,
  { reason, message }: Hold,
): Promise<void> {
  context.log.warn({ artifactWorkflow: workflow.metadata.name }, message);
  const status = holdStatus({ reason, message: printableLines(message) });
  const written = await writeStatus(context, artifactWorkflows, workflow, status);
  if (written === undefined || written === workflow) return;
  const component = 'submit-workflow';
  await recordEvent(context, { regarding: workflow, type: 'Warning', reason, message, component });
}

/** Records that two Orders write to one place: on the starting ArtifactWorkflow, and on the Order whose result it overwrites. */
export async function announceSharing(
  context: Context,
  workflow: ArtifactWorkflow,
  overwritten: ArtifactWorkflow,
): Promise<void> {
  const note = { type: 'Normal', reason: 'TargetShared', component: 'submit-workflow' } as const;
  const message = `writes to the same place as ${titleOf(overwritten)}, which had succeeded: what is there is overwritten`;
  await recordEvent(context, { ...note, regarding: workflow, message });
  const other = orderOf(overwritten);
  const told = `${titleOf(workflow)} overwrites what ArtifactWorkflow "${overwritten.metadata.name}" has put in place`;
  if (other !== undefined) await recordEvent(context, { ...note, regarding: other, message: told });
}

function titleOf(workflow: ArtifactWorkflow): string {
  const order = ownerOfKind(workflow, 'Order');
  const title = `ArtifactWorkflow "${workflow.metadata.name}"`;
  return order === undefined ? title : `${title} of Order "${order.name}"`;
}

/** Returns the owning Order, reconstructed from the owner reference. */
function orderOf(workflow: ArtifactWorkflow): KubeObject | undefined {
  const order = ownerOfKind(workflow, 'Order');
  if (order === undefined) return undefined;
  const { apiVersion, kind, name, uid } = order;
  return { apiVersion, kind, metadata: { ...namespaceOf(workflow), name, uid } };
}
