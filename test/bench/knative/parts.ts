import type { KubeObject } from '#shared/base/meta';
import type { PodTime } from './cgroups.ts';

/** As much of a pod as says whose it is. */
export interface Pod extends KubeObject {
  status?: { containerStatuses?: { name: string; containerID?: string }[] };
}

/** Whose pod it is: the name of a part of ARC, the system it belongs to, or `other pods`. */
export function partOf({ metadata }: Pod): string {
  const labels = metadata.labels ?? {};
  if (labels['workflows.argoproj.io/workflow'] !== undefined) return 'argoexec';
  if (metadata.namespace === 'arc-system')
    return labels['serving.knative.dev/service'] ?? labels['app.kubernetes.io/name'] ?? 'other pods';
  if (metadata.namespace === 'knative-serving') return 'Knative Serving';
  return metadata.namespace === 'knative-eventing' ? 'Knative Eventing' : 'other pods';
}

/** Containers that are counted apart from the rest of their pod: what Knative adds to a function, and our worker in a pod of Argo's. */
function partOfContainer(part: string, container: string): string {
  if (container === 'queue-proxy') return 'queue-proxy';
  return part === 'argoexec' && container === 'main' ? 'transfer-worker' : part;
}

/** CPU seconds by part, largest first. Time of pods that are not among `pods` is of `other pods`. */
export function sumByPart(
  times: ReadonlyMap<string, PodTime>,
  pods: ReadonlyMap<string, Pod>,
): Map<string, number> {
  const sums = new Map<string, number>();
  const add = (part: string, seconds: number) => sums.set(part, (sums.get(part) ?? 0) + seconds);
  for (const [uid, time] of times) {
    const pod = pods.get(uid);
    const part = pod ? partOf(pod) : 'other pods';
    add(part, time.seconds);
    for (const { name, containerID = '' } of pod?.status?.containerStatuses ?? []) {
      const seconds = time.containers.get(containerID.replace(/^.*:\/\//, '')) ?? 0;
      add(part, -seconds);
      add(partOfContainer(part, name), seconds);
    }
  }
  return new Map([...sums].toSorted(([, one], [, other]) => other - one));
}
