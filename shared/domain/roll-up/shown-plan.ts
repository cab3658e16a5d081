import { artifactIdOf, keyOf } from '../identity/artifact.ts';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import type { ArtifactStatus, Order } from '../kinds/order.ts';
import { labels } from '../kinds/well-known.ts';
import { isDeleting } from '../lifecycle/phases.ts';
import { forceTime } from '../plan/effective.ts';
import type { OrderPlan, PlannedArtifact } from '../plan/plan.ts';
import { isForceOwed, isRetryOwed } from '../ttl/due.ts';

/** What the status of an Order is computed from, beside the Order and its ArtifactWorkflows. */
export type StatusPlan = Omit<OrderPlan, 'historyLimit' | 'notes'>;

/**
 * The plan that the Order's status was computed from, where the status tells it: the spec is the same, and each artifact has the one
 * ArtifactWorkflow that the status shows. News of those needs no Endpoint and no type then. What has changed of these wakes the Order for
 * itself, and until then the status says, by its generations, what it was computed from. Undefined where only a new plan will do.
 */
export function shownPlan(order: Order, children: readonly ArtifactWorkflow[]): StatusPlan | undefined {
  const { status = {}, metadata } = order;
  const { artifactWorkflows: entries = {}, endpointGenerations = {}, secretGenerations = {} } = status;
  if (isDeleting(order) || status.observedGeneration !== metadata.generation) return undefined;
  if (isForceOwed(order) || isRetryOwed(order)) return undefined;
  if (children.length === 0 || children.length !== Object.keys(entries).length) return undefined;
  const artifacts = children.map((child) => shownArtifact(order, entries[keyOf(child)], child));
  if (!artifacts.every((artifact) => artifact !== undefined)) return undefined;
  // Each of them stands for its artifact, so nothing asks what a change of an Endpoint would do.
  return { artifacts, onChange: 'Rerun', forceAt: forceTime(order), endpointGenerations, secretGenerations };
}

function shownArtifact(
  { spec }: Order,
  entry: ArtifactStatus | undefined,
  child: ArtifactWorkflow,
): PlannedArtifact | undefined {
  const given = entry && spec.artifacts?.[entry.artifactIndex];
  const id = artifactIdOf(child);
  if (!given || id === undefined || isDeleting(child)) return undefined;
  return {
    index: entry.artifactIndex,
    key: keyOf(child),
    id,
    ...(given.name === undefined ? {} : { name: given.name }),
    ...(spec.cancel === true || given.cancel === true ? { cancel: true } : {}),
    state: 'ready',
    workflow: child,
    target: child.metadata.labels?.[labels.target] ?? '',
  };
}
