import { eachBounded } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import { isOwnedBy } from '#shared/base/meta';
import { createOrGet, isOverQuota, readChildren, recordEvent } from '#shared/conduit/function-kit';
import type { Context } from '#shared/conduit/runtime';
import {
  type ArtifactWorkflow,
  artifactWorkflows,
  group,
  type Hold,
  keyOf,
  mostRefusals,
  type Order,
  type Refusals,
} from '#shared/domain';

const parallel = 16;
/** Errors that a retry may overcome; every other error needs a person and becomes an Event. */
const transient = ['Conflict', 'TooManyRequests', 'ServiceUnavailable', 'Timeout', 'InternalError'] as const;

/**
 * Creates the missing ArtifactWorkflows. Returns how many were created, and which were refused, by their keys. A refusal (the name is taken, an
 * admission policy) is also recorded as a Warning Event on the Order and does not delay the others. Rejects, after trying all, if a
 * failure is transient.
 *
 * After `mostRefusals` refusals for a quota, the rest waits for the next try: the quota would refuse it, too.
 *
 * Two replicas may do this concurrently. A replica that meets a child which the other has just created lists again what is missing and
 * continues from a random position, so that the replicas share the work instead of doing it twice.
 */
export async function createChildren(
  context: Context,
  order: Order,
  missing: readonly ArtifactWorkflow[],
): Promise<{ created: number; refusals: Refusals }> {
  const failures: { item: ArtifactWorkflow; error: unknown }[] = [];
  let created = 0;
  let overQuota = 0;
  let left = missing;
  while (left.length > 0 && overQuota < mostRefusals) {
    const tried = new Set<ArtifactWorkflow>();
    let overtaken = false;
    const failed = await eachBounded(left, parallel, async (workflow) => {
      if (overtaken || overQuota >= mostRefusals) return;
      tried.add(workflow);
      try {
        if (await createOne(context, order, workflow)) created += 1;
        else overtaken = true;
      } catch (caught) {
        overQuota += isOverQuota(caught) ? 1 : 0;
        throw caught;
      }
    });
    failures.push(...failed);
    const untried = overtaken ? left.filter((workflow) => !tried.has(workflow)) : [];
    left = untried.length === 0 ? [] : await stillMissing(context, order, untried);
  }
  const refused = failures.filter(({ error }) => !ArcError.is(error, ...transient));
  const refusals = refused.map(
    ({ item, error }) => [keyOf(item), holdOf(item, ArcError.from(error))] as const,
  );
  for (const [, hold] of refusals.slice(0, mostRefusals)) await report(context, order, hold);
  const retry = failures.find(({ error }) => ArcError.is(error, ...transient));
  if (retry !== undefined) throw ArcError.from(retry.error);
  return { created, refusals: Object.fromEntries(refusals) };
}

/** Returns the ArtifactWorkflows that still do not exist, rotated to a random start: another replica works at another position. */
async function stillMissing(
  context: Context,
  order: Order,
  untried: readonly ArtifactWorkflow[],
): Promise<ArtifactWorkflow[]> {
  const names = new Set((await readChildren(context, order)).map(({ metadata }) => metadata.name));
  const missing = untried.filter(({ metadata }) => !names.has(metadata.name));
  const start = Math.floor(Math.random() * missing.length);
  return [...missing.slice(start), ...missing.slice(0, start)];
}

/** Returns false if this Order's ArtifactWorkflow exists already: another replica was faster. */
async function createOne(context: Context, order: Order, workflow: ArtifactWorkflow): Promise<boolean> {
  const { object, created } = await createOrGet(context, artifactWorkflows, workflow);
  if (created || isOwnedBy(object, order)) return created;
  throw new ArcError('AlreadyExists', 'it exists and has another owner; delete it');
}

function holdOf(workflow: ArtifactWorkflow, error: ArcError): Hold {
  const { name } = workflow.metadata;
  // The Event names the object already, and the recorded refusal is short.
  const why = error.message.replace(`artifactworkflows.${group} "${name}" is forbidden: `, '');
  const message = `cannot create ArtifactWorkflow "${name}": ${why}`;
  if (isOverQuota(error)) return { reason: 'QuotaExceeded', message };
  return { reason: error.code === 'AlreadyExists' ? 'NameTaken' : 'CreationFailed', message };
}

async function report(context: Context, order: Order, { reason, message }: Hold): Promise<void> {
  context.log.warn({ order: order.metadata.name }, message);
  const component = 'decompose-order';
  await recordEvent(context, { regarding: order, type: 'Warning', reason, message, component });
}
