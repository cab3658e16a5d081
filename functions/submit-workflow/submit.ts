import {
  type ArtifactWorkflow,
  artifactWorkflows,
  type CronWorkflow,
  cronWorkflows,
  type Submission,
  type Workflow,
  workflows,
} from '#shared/domain';
import { createOrGet, isRefusal, recordWarning, writeStatus } from '#shared/function-kit';
import { isOwnedBy } from '#shared/meta';
import type { Context, Wake } from '#shared/runtime';

/** W3C trace context of the event that a Workflow was created for. */
const traceAnnotation = 'arc.opendefense.cloud/traceparent';

/**
 * Writes the reference to the Workflow, guarded, then creates the Workflow: after a crash in between the next wake creates what the
 * reference names, and two instances cannot start two different Workflows. A Workflow of ours that exists already is a success.
 */
export async function submit(
  context: Context,
  wake: Wake,
  workflow: ArtifactWorkflow,
  { object, status }: Submission & { action: 'create' },
): Promise<void> {
  if (!(await writeStatus(context, artifactWorkflows, workflow, status))) return;
  const title = `${object.kind} "${object.metadata.name}"`;
  try {
    const present = await create(context, object);
    if (isOwnedBy(present, workflow)) return;
    await warn(context, wake, workflow, 'NameTaken', `${title} exists and has another owner; delete it`);
  } catch (caught) {
    if (!isRefusal(caught)) throw caught;
    await warn(context, wake, workflow, 'SubmissionFailed', `cannot create ${title}: ${caught.message}`);
  }
}

/** Creates the Workflow with the trace of the wake that led to it, or reads the one of its name. */
async function create(context: Context, plain: Workflow | CronWorkflow): Promise<Workflow | CronWorkflow> {
  const object = context.trace === undefined ? plain : traced(plain, context.trace.traceparent);
  const { object: present } = isCron(object)
    ? await createOrGet(context, cronWorkflows, object)
    : await createOrGet(context, workflows, object);
  return present;
}

function traced<T extends Workflow | CronWorkflow>(object: T, traceparent: string): T {
  const annotations = { ...object.metadata.annotations, [traceAnnotation]: traceparent };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

function isCron(object: Workflow | CronWorkflow): object is CronWorkflow {
  return object.kind === 'CronWorkflow';
}

async function warn(
  context: Context,
  wake: Wake,
  workflow: ArtifactWorkflow,
  reason: string,
  message: string,
): Promise<void> {
  context.log.warn({ artifactWorkflow: workflow.metadata.name }, message);
  await recordWarning(context, wake, { regarding: workflow, reason, message, component: 'submit-workflow' });
}
