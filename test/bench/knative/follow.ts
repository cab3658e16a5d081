import { type Workflow, workflows } from '#shared/domain';
import { type Change, type Kind, type KubeClient, listWatch } from '#shared/kubernetes/client';
import type { Pod } from './parts.ts';

const pods: Kind<Pod> = { apiVersion: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };

/** Every pod of the cluster in its last state, by uid, those that have been deleted as well; kept up to date until `signal` ends it. */
export function followPods(client: KubeClient, signal: AbortSignal): ReadonlyMap<string, Pod> {
  const seen = new Map<string, Pod>();
  const onChange = ({ after }: Change<Pod>) => {
    if (after?.metadata.uid !== undefined) seen.set(after.metadata.uid, after);
  };
  listWatch<Pod>(client, pods, { onChange }, { signal });
  return seen;
}

/** By performance.now(). */
export interface WorkflowTimes {
  /** When all of them existed. */
  created: number;
  /** When the last of them had ended. */
  ended: number;
}

/** Follows the Workflows of one Order, told by the beginning of their names, until `size` of them have ended; rejects when `signal` is aborted. */
export function followWorkflows(
  client: KubeClient,
  order: { namespace: string; name: string },
  size: number,
  signal: AbortSignal,
): Promise<WorkflowTimes> {
  const there = new Set<string>();
  const over = new Set<string>();
  let created = 0;
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    const onChange = ({ after }: Change<Workflow>) => {
      if (!after?.metadata.name.startsWith(`${order.name}-`)) return;
      there.add(after.metadata.name);
      if (/^(Succeeded|Failed|Error)$/.test(after.status?.phase ?? '')) over.add(after.metadata.name);
      if (there.size === size) created ||= performance.now();
      if (over.size === size) resolve({ created, ended: performance.now() });
    };
    listWatch<Workflow>(client, workflows, { namespace: order.namespace, onChange }, { signal });
  });
}
