import { ArcError } from '#shared/base/errors';
import { namespaceOf } from '#shared/conduit/function-kit';
import type { Context } from '#shared/conduit/runtime';
import {
  gatedPod,
  isQueued,
  labels,
  pendingWorkloads,
  placeInQueue,
  pods,
  type QueuePlace,
  type Workflow,
  workloads,
} from '#shared/domain';

/** The place in the queue is optional: a slow API must not delay the status. */
const readTimeoutMs = 5_000;

/**
 * Reads where a Workflow stands in Kueue's queue; undefined if it does not wait there, or has no pod yet. Without the rights of components/kueue, or without
 * Kueue, position and reason are left out.
 */
export async function readQueuePlace(context: Context, workflow: Workflow): Promise<QueuePlace | undefined> {
  const queue = workflow.metadata.labels?.[labels.queue];
  if (queue === undefined || !isQueued(workflow)) return undefined;
  const place = namespaceOf(workflow);
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(readTimeoutMs)]);
  const { api, log } = context;
  const optional = async <T>(read: Promise<T>): Promise<T | undefined> => {
    try {
      return await read;
    } catch (caught) {
      context.signal.throwIfAborted();
      log.debug({ err: ArcError.from(caught), workflow: workflow.metadata.name }, 'the queue was not read');
      return undefined;
    }
  };
  const selection = { ...place, labelSelector: `${labels.argoWorkflow}=${workflow.metadata.name}` };
  const { items = [] } = (await optional(api.list(pods, selection, signal))) ?? {};
  if (items.length === 0) return undefined;
  const uid = gatedPod(items)?.metadata.uid;
  if (uid === undefined) return { queue, isAdmitted: true };
  const ofPod = { ...place, labelSelector: `${labels.workloadPod}=${uid}` };
  const [found, pending] = await Promise.all([
    optional(api.list(workloads, ofPod, signal)),
    optional(api.get(pendingWorkloads, { ...place, name: queue, subresource: 'pendingworkloads' }, signal)),
  ]);
  return placeInQueue(queue, found?.items[0], pending);
}
