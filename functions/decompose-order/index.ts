/** decompose-order: an Order -> its ArtifactWorkflows, and the Order's finalizer. Writes no status. */
import {
  type ArtifactWorkflow,
  artifactWorkflows,
  decideChildren,
  finalizers,
  labels,
  type Order,
  type OrderPlan,
  orders,
} from '#shared/domain';
import { ArcError } from '#shared/errors';
import { emitEvent } from '#shared/kube';
import { type Context, readPlan, type Wake } from '#shared/runtime';
import { createChildren } from './create-children.ts';
import { eachLimited } from './each-limited.ts';

const parallel = 16;

/** Makes the ArtifactWorkflows of the Order those that its plan asks for. Rejects with what the broker is to retry. */
export async function handle(context: Context, wake: Wake): Promise<undefined> {
  const { api, signal } = context;
  const order = await api.get(orders, { namespace: wake.namespace, name: wake.name }, signal);
  if (order === undefined) return;
  const [plan, existing] = await Promise.all([readPlan(context, order), childrenOf(context, order)]);
  const decision = decideChildren(order, plan, existing);
  if (decision.finalizer === 'add' && !(await addFinalizer(context, order))) return;
  // First what must end: a new version starts only when the old one has.
  await retire(context, decision.stop, decision.remove);
  await adjust(context, decision.adjust);
  const missing = decision.create.length > 0 ? await stillMissing(context, order, plan, existing) : [];
  const created = await createChildren(context, order, missing, {
    parallel,
    present: async () => new Set((await childrenOf(context, order)).map(({ metadata }) => metadata.name)),
  });
  if (created > 0) await announce(context, order, created);
  if (decision.finalizer === 'remove') await removeFinalizer(context, order);
}

/**
 * What to create by the Order as it is now. One that had finished and was removed between our reading the Order and our listing
 * its children stands in the status by now, and is not to run again.
 */
async function stillMissing(
  { api, signal }: Context,
  order: Order,
  plan: OrderPlan,
  existing: readonly ArtifactWorkflow[],
): Promise<ArtifactWorkflow[]> {
  const now = await api.get(orders, order.metadata, signal);
  if (now === undefined || now.metadata.uid !== order.metadata.uid) return [];
  return decideChildren(now, plan, existing).create;
}

async function childrenOf({ api, signal }: Context, order: Order): Promise<ArtifactWorkflow[]> {
  const uid = order.metadata.uid ?? '';
  const labelSelector = `${labels.order}=${uid}`;
  const { items } = await api.list(artifactWorkflows, { ...namespaceOf(order), labelSelector }, signal);
  // Anybody can write a label; what we may delete is what the Order owns.
  return items.filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid));
}

function namespaceOf(order: Order): { namespace?: string } {
  const { namespace } = order.metadata;
  return namespace === undefined ? {} : { namespace };
}

async function retire(
  context: Context,
  stop: readonly ArtifactWorkflow[],
  remove: readonly ArtifactWorkflow[],
): Promise<void> {
  const stopping = stop.map((workflow) => ({ workflow, guard: {} }));
  // A finished one may have been asked to run again meanwhile: then it is not the one we judged.
  const removing = remove.map((workflow) => ({ workflow, guard: versionOf(workflow) }));
  const failures = await eachLimited([...stopping, ...removing], parallel, async ({ workflow, guard }) => {
    const { uid } = workflow.metadata;
    const options = { ...guard, ...(uid === undefined ? {} : { uid }) };
    await context.api.delete(artifactWorkflows, workflow.metadata, options, context.signal);
  });
  rethrowFirst(failures);
}

async function adjust(context: Context, changes: ReturnType<typeof decideChildren>['adjust']): Promise<void> {
  const failures = await eachLimited(changes, parallel, async ({ workflow, patch }) => {
    const guarded = { ...patch, metadata: { ...patch.metadata, ...versionOf(workflow) } };
    try {
      await context.api.mergePatch(artifactWorkflows, workflow.metadata, guarded, {}, context.signal);
    } catch (caught) {
      if (!ArcError.is(caught, 'NotFound')) throw caught;
    }
  });
  rethrowFirst(failures);
}

function versionOf({ metadata }: Order | ArtifactWorkflow): { resourceVersion?: string } {
  const { resourceVersion } = metadata;
  return resourceVersion === undefined ? {} : { resourceVersion };
}

function rethrowFirst(failures: readonly { error: unknown }[]): void {
  const [first] = failures;
  if (first !== undefined) throw ArcError.from(first.error);
}

/** False when the Order has gone meanwhile. */
async function addFinalizer({ api, signal }: Context, order: Order): Promise<boolean> {
  const wanted = [...(order.metadata.finalizers ?? []), finalizers.children];
  const patch = { metadata: { ...versionOf(order), finalizers: wanted } };
  try {
    await api.mergePatch(orders, order.metadata, patch, {}, signal);
    return true;
  } catch (caught) {
    if (!ArcError.is(caught, 'NotFound')) throw caught;
    return false;
  }
}

async function removeFinalizer({ api, signal }: Context, order: Order): Promise<void> {
  const rest = (order.metadata.finalizers ?? []).filter((name) => name !== finalizers.children);
  const patch = { metadata: { ...versionOf(order), finalizers: rest } };
  try {
    await api.mergePatch(orders, order.metadata, patch, {}, signal);
  } catch (caught) {
    if (!ArcError.is(caught, 'NotFound')) throw caught;
  }
}

async function announce({ api, signal, now, log }: Context, order: Order, created: number): Promise<void> {
  const message = `created ${created} ArtifactWorkflow${created === 1 ? '' : 's'}`;
  try {
    await emitEvent(
      api,
      { regarding: order, type: 'Normal', reason: 'Created', message, component: 'decompose-order', now },
      signal,
    );
  } catch (caught) {
    // The work is done; failing the delivery over its announcement would only do it again.
    log.warn({ err: ArcError.from(caught) }, 'the Event could not be recorded');
  }
}
