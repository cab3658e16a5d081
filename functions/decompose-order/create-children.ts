import { type ArtifactWorkflow, artifactWorkflows, type Order } from '#shared/domain';
import { ArcError } from '#shared/errors';
import { emitEvent } from '#shared/kube';
import type { Context } from '#shared/runtime';
import { eachLimited } from './each-limited.ts';

/** Answers that another try may change; the rest needs a person, and is told to one. */
const transient = ['Conflict', 'TooManyRequests', 'ServiceUnavailable', 'Timeout', 'InternalError'] as const;

/**
 * Creates what is missing and returns how many were new. One that cannot be created (its name is taken, a policy refuses it)
 * becomes a Warning Event on the Order and holds none of the others up. Rejects, after trying all, when a try failed
 * that may succeed later.
 *
 * Two of us may be at it at once. Who meets a child that the other has just made asks with `present` (the names there are
 * now) what is left, and goes on with that from another place, so that they share the work instead of doing it twice.
 */
export async function createChildren(
  context: Context,
  order: Order,
  wanted: readonly ArtifactWorkflow[],
  options: { parallel: number; present: () => Promise<ReadonlySet<string>>; random?: () => number },
): Promise<number> {
  const { parallel, present, random = Math.random } = options;
  const failures: { item: ArtifactWorkflow; error: unknown }[] = [];
  let created = 0;
  let left = wanted;
  while (left.length > 0) {
    const tried = new Set<ArtifactWorkflow>();
    let overtaken = false;
    const failed = await eachLimited(left, parallel, async (workflow) => {
      if (overtaken) return;
      tried.add(workflow);
      if (await createOne(context, order, workflow)) created += 1;
      else overtaken = true;
    });
    failures.push(...failed);
    const rest = left.filter((workflow) => !tried.has(workflow));
    left = rest.length === 0 ? [] : await missingOf(rest, present, random);
  }
  for (const { item, error } of failures) {
    if (!ArcError.is(error, ...transient)) await report(context, order, item, ArcError.from(error));
  }
  const retry = failures.find(({ error }) => ArcError.is(error, ...transient));
  if (retry !== undefined) throw ArcError.from(retry.error);
  return created;
}

/** Those that are not there, from anywhere on and round: whoever else is at it works elsewhere. */
async function missingOf(
  rest: readonly ArtifactWorkflow[],
  present: () => Promise<ReadonlySet<string>>,
  random: () => number,
): Promise<ArtifactWorkflow[]> {
  const names = await present();
  const missing = rest.filter(({ metadata }) => !names.has(metadata.name));
  const start = Math.floor(random() * missing.length);
  return [...missing.slice(start), ...missing.slice(0, start)];
}

/** False when it was there already and this Order's: somebody else was faster. */
async function createOne(
  { api, signal }: Context,
  order: Order,
  workflow: ArtifactWorkflow,
): Promise<boolean> {
  try {
    await api.create(artifactWorkflows, workflow, signal);
    return true;
  } catch (caught) {
    if (!ArcError.is(caught, 'AlreadyExists')) throw caught;
  }
  const present = await api.get(artifactWorkflows, workflow.metadata, signal);
  if (present === undefined) throw new ArcError('Conflict', `"${workflow.metadata.name}" is being replaced`);
  if (present.metadata.ownerReferences?.some(({ uid }) => uid === order.metadata.uid)) return false;
  throw new ArcError('AlreadyExists', `it exists and belongs to somebody else; delete or rename that one`);
}

async function report(
  { api, log, now, signal }: Context,
  order: Order,
  workflow: ArtifactWorkflow,
  error: ArcError,
): Promise<void> {
  const taken = error.code === 'AlreadyExists';
  const message = `cannot create ArtifactWorkflow "${workflow.metadata.name}": ${error.message}`;
  log.warn({ order: order.metadata.name, err: error }, message);
  const reason = taken ? 'NameTaken' : 'CreationFailed';
  try {
    await emitEvent(
      api,
      { regarding: order, type: 'Warning', reason, message, component: 'decompose-order', now },
      signal,
    );
  } catch (caught) {
    log.warn({ err: ArcError.from(caught) }, 'the Event could not be recorded');
  }
}
