import { type Pod, pods } from '#shared/domain';
import type { Kind } from '#shared/kubernetes/client';

/** A pod in the tree of an Order. */
export interface PodNode {
  name: string;
  phase: string;
  reason: string;
  message: string;
}

interface ContainerState {
  state?: {
    waiting?: ContainerProblem;
    terminated?: ContainerProblem & { exitCode?: number };
  };
}

interface ContainerProblem {
  reason?: string;
  message?: string;
}

/** core/v1 Pod with the fields that explain why it does not progress. */
export type ShownPod = Omit<Pod, 'spec' | 'status'> & {
  spec?: { containers?: { name: string }[] };
  status?: ContainerProblem & {
    phase?: string;
    conditions?: (ContainerProblem & { status?: string })[];
    initContainerStatuses?: ContainerState[];
    containerStatuses?: ContainerState[];
  };
};

export const shownPods: Kind<ShownPod> = {
  apiVersion: pods.apiVersion,
  kind: pods.kind,
  plural: pods.plural,
  namespaced: pods.namespaced,
};

export function podNode({ metadata, status }: ShownPod): PodNode {
  const { reason = '', message = '' } = containerProblem(status);
  return { name: metadata.name, phase: status?.phase ?? 'Pending', reason, message };
}

/** Returns the state of the first waiting or failed container, which says more than the pod's phase. */
function containerProblem(status: ShownPod['status']): ContainerProblem {
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const states = containers.map(({ state }) => state);
  const waiting = states.find((state) => state?.waiting)?.waiting;
  const ended = states.find((state) => (state?.terminated?.exitCode ?? 0) !== 0)?.terminated;
  const unmet = status?.conditions?.find((each) => each.status === 'False' && each.reason);
  return waiting ?? ended ?? (status?.phase === 'Pending' ? unmet : undefined) ?? status ?? {};
}
