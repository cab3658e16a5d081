import { type ArtifactWorkflow, artifactWorkflows, labels, type Order, orders } from '#shared/domain';
import { createFollower } from '../core/follower.ts';
import { type ShownPod, shownPods } from '../core/pod.ts';
import type { Cluster } from '../core/session.ts';
import { type OrderTree, treeOf } from './tree.ts';

/** A pod with a relevant log, and its artifact. */
export interface LogSource {
  artifact: string;
  pod: string;
}

export interface RunObserver {
  /** Called with each state of the Order. */
  onOrder?(order: Order): void;
  /** Called once for each started pod of the current runs. */
  onPod(source: LogSource): void;
  /** Returns true to stop following; undefined: the Order is gone. */
  isOver(order: Order | undefined): boolean;
  /** Receives messages for people. */
  note(text: string): void;
  signal: AbortSignal;
}

/** Follows the pods of an Order until it has ended. Resolves with the last state of the Order; rejects with an error of the API. */
export async function followRuns(
  { api, namespace }: Pick<Cluster, 'api' | 'namespace'>,
  { metadata: { uid = '', name } }: Order,
  { onOrder, onPod, isOver, note, signal }: RunObserver,
): Promise<Order | undefined> {
  await using follower = createFollower(api, signal, note);
  const seen = follower.follow(orders, { namespace, fieldSelector: `metadata.name=${name}` }, ({ after }) => {
    if (after) onOrder?.(after);
  });
  const children = follower.follow<ArtifactWorkflow>(artifactWorkflows, {
    namespace,
    labelSelector: `${labels.order}=${uid}`,
  });
  const pods = follower.follow<ShownPod>(shownPods, { namespace, labelSelector: labels.argoWorkflow });
  let told = new Set<string>();
  while (await follower.changed(200)) {
    if (!seen.synced || !children.synced || !pods.synced) continue;
    const order = seen.values().find(({ metadata }) => metadata.uid === uid);
    const tree = order && treeOf({ order, artifactWorkflows: children.values() });
    const sources = tree ? startedPods(tree, children.values(), pods.values()) : [];
    for (const source of sources) if (!told.has(source.pod)) onPod(source);
    told = new Set(sources.map(({ pod }) => pod));
    if (isOver(order)) return order;
  }
  return undefined;
}

/** Returns the started pods of the current runs. */
function startedPods(
  tree: OrderTree,
  children: readonly ArtifactWorkflow[],
  pods: readonly ShownPod[],
): LogSource[] {
  const byName = new Map(children.map((child) => [child.metadata.name, child]));
  const owners = new Map(
    tree.artifacts.flatMap(({ name, versions }) => {
      const version = versions.find(({ inForce }) => inForce);
      const { workflowRef, activeWorkflowRef } = byName.get(version?.name ?? '')?.status ?? {};
      return [workflowRef?.name, activeWorkflowRef?.name].map((run) => [run, name] as const);
    }),
  );
  return pods.flatMap(({ metadata, status }) => {
    const artifact = owners.get(metadata.labels?.[labels.argoWorkflow]);
    const hasBegun = status?.phase !== undefined && status.phase !== 'Pending';
    return artifact !== undefined && hasBegun ? [{ artifact, pod: metadata.name }] : [];
  });
}
