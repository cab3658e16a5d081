import {
  type ArtifactWorkflow,
  type CronWorkflow,
  cronWorkflows,
  isOwnedBy,
  type Submission,
  type Workflow,
  workflows,
} from '#shared/domain';
import { ArcError } from '#shared/errors';
import { emitEvent } from '#shared/kube';
import type { Context, Wake } from '#shared/runtime';
import { writeStatus } from './write.ts';

/** W3C trace context of the event that a Workflow was created for. */
const annotationOfTrace = 'arc.opendefense.cloud/traceparent';

/** Answers that only a person can change: they are told, and the resync tries again. */
const refusals = ['Invalid', 'Forbidden', 'BadRequest', 'NotFound', 'RequestEntityTooLarge'] as const;

/**
 * Writes which Workflow is meant, guarded, then creates it: a crash in between leaves a reference that the next wake makes
 * true, and two of us cannot start two different ones. That it exists already is success if it is ours.
 */
export async function submit(
  context: Context,
  wake: Wake,
  workflow: ArtifactWorkflow,
  { object, status }: Submission & { action: 'create' },
): Promise<void> {
  if (!(await writeStatus(context, workflow, status))) return;
  try {
    await create(context, object);
  } catch (caught) {
    if (ArcError.is(caught, 'AlreadyExists')) return accept(context, wake, workflow, object);
    if (!ArcError.is(caught, ...refusals)) throw caught;
    const message = `cannot create ${object.kind} "${object.metadata.name}": ${caught.message}`;
    await warn(context, wake, workflow, 'SubmissionFailed', message);
  }
}

/** With the trace of the wake, so that whoever looks at the Workflow finds what led to it. */
async function create({ api, signal, trace }: Context, plain: Workflow | CronWorkflow): Promise<void> {
  const object = trace === undefined ? plain : traced(plain, trace.traceparent);
  if (isCron(object)) await api.create(cronWorkflows, object, signal);
  else await api.create(workflows, object, signal);
}

async function accept(
  context: Context,
  wake: Wake,
  workflow: ArtifactWorkflow,
  object: Workflow | CronWorkflow,
): Promise<void> {
  const { api, signal } = context;
  const present = isCron(object)
    ? await api.get(cronWorkflows, object.metadata, signal)
    : await api.get(workflows, object.metadata, signal);
  if (present === undefined) throw new ArcError('Conflict', `"${object.metadata.name}" is being replaced`);
  if (isOwnedBy(present, workflow)) return;
  const message = `${object.kind} "${object.metadata.name}" exists and belongs to somebody else; delete or rename it`;
  await warn(context, wake, workflow, 'NameTaken', message);
}

function traced<T extends Workflow | CronWorkflow>(object: T, traceparent: string): T {
  const annotations = { ...object.metadata.annotations, [annotationOfTrace]: traceparent };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

function isCron(object: Workflow | CronWorkflow): object is CronWorkflow {
  return object.kind === 'CronWorkflow';
}

/** Told once per cause: a resync that finds the same again says nothing. */
async function warn(
  { api, log, now, signal }: Context,
  wake: Wake,
  workflow: ArtifactWorkflow,
  reason: string,
  message: string,
): Promise<void> {
  log.warn({ artifactWorkflow: workflow.metadata.name }, message);
  if (wake.reason === 'resync') return;
  const component = 'submit-workflow';
  try {
    await emitEvent(api, { regarding: workflow, type: 'Warning', reason, message, component, now }, signal);
  } catch (caught) {
    log.warn({ err: ArcError.from(caught) }, 'the Event could not be recorded');
  }
}
