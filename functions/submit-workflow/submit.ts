import { ArcError, printableLines } from '#shared/base/errors';
import { isOwnedBy } from '#shared/base/meta';
import {
  isRefusal,
  missingRight,
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
  isOfPredecessor,
  isUnreleased,
  releasePatch,
  type Submission,
  type Workflow,
} from '#shared/domain';
import { change, create, remove } from './argo.ts';
import { announceSharing } from './sharing.ts';
import { giveSlotsBack } from './slots.ts';

/** W3C trace context of the event that a Workflow was created for. */
const traceAnnotation = 'arc.opendefense.cloud/traceparent';

/**
 * Tells those that could start at the same time; writes the reference to the Workflow, guarded, so that two instances cannot start two
 * different ones; creates it, suspended; releases it. After a crash in between the next event goes on from there: a Workflow of ours that exists already is a success.
 */
export async function submit(
  context: Context,
  workflow: ArtifactWorkflow,
  { object, status, overwritten, tell, told }: Submission & { action: 'create' },
): Promise<void> {
  for (const rival of tell) await writeStatus(context, artifactWorkflows, rival, told);
  const recorded = await writeStatus(context, artifactWorkflows, workflow, status);
  if (recorded === undefined) return;
  const present = await createOwn(context, recorded, object);
  // Another one may run in its place until it is tried again. After its status: who is next depends on that.
  if (present === undefined) return giveSlotsBack(context, recorded);
  const ready = await waitNoMore(context, recorded);
  if (ready && isUnreleased(present)) await release(context, ready, present);
  if (ready && overwritten !== undefined) await announceSharing(context, workflow, overwritten);
}

/** Nothing is waited for any more. Only once the Workflow exists: a refusal that lasts must not come and go with each try. */
export function waitNoMore(
  context: Context,
  workflow: ArtifactWorkflow,
): Promise<ArtifactWorkflow | undefined> {
  return writeStatus(context, artifactWorkflows, workflow, { waitReason: null, waitMessage: null });
}

/**
 * Lets the Workflow run if the ArtifactWorkflow has not changed since it was read. Whoever finished with it meanwhile may have found no
 * Workflow; so it is looked at after the Workflow is known to exist. Rejects with Conflict if it has changed: what to do is decided again.
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

/** The Workflow with the trace of the event that led to it, or the one that exists already; undefined where it cannot be made, which the status and a Warning say. */
async function createOwn(
  context: Context,
  workflow: ArtifactWorkflow,
  plain: Workflow | CronWorkflow,
): Promise<Workflow | CronWorkflow | undefined> {
  const object = context.trace === undefined ? plain : traced(plain, context.trace.traceparent);
  const title = `${object.kind} "${object.metadata.name}"`;
  try {
    const present = await create(context, object);
    if (isOwnedBy(present, workflow)) return present;
    // Decided again: it waits for the garbage collector.
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

function traced<T extends Workflow | CronWorkflow>(object: T, traceparent: string): T {
  const annotations = { ...object.metadata.annotations, [traceAnnotation]: traceparent };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

function refusal(caught: ArcError, workflow: ArtifactWorkflow, title: string): Hold {
  const right = missingRight(caught, workflow);
  if (right) return right;
  // A namespace that is gone is named in the answer; a kind that is not served is not.
  if (ArcError.is(caught, 'NotFound') && !caught.message.startsWith('namespaces '))
    return { reason: 'ArgoMissing', message: `cannot create ${title}: install Argo Workflows` };
  return { reason: 'SubmissionFailed', message: `cannot create ${title}: ${caught.message}` };
}

/** Says what a person has to change: in the status, and as a Warning when it is another thing than before. */
async function report(
  context: Context,
  workflow: ArtifactWorkflow,
  { reason, message }: Hold,
): Promise<void> {
  context.log.warn({ artifactWorkflow: workflow.metadata.name }, message);
  const status = { waitReason: reason, waitMessage: printableLines(message) };
  const written = await writeStatus(context, artifactWorkflows, workflow, status);
  if (written === undefined || written === workflow) return;
  const component = 'submit-workflow';
  await recordEvent(context, { regarding: workflow, type: 'Warning', reason, message, component });
}
