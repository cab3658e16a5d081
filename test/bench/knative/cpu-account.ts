import { type PodTime, readPods, readSeconds } from './cgroups.ts';

export interface CpuAccount {
  /** Ends it. What each pod has used since the start, by uid, and what all pods used together. */
  stop(): { pods: Map<string, PodTime>; seconds: number };
}

const betweenLooksMs = 200;

/**
 * Counts the CPU time of all pods of this machine, of those that end meanwhile as well: they are looked at five times a second, and the last look
 * counts. kubelet removes the cgroup of a pod some time after its last container has ended, so that little of a pod is missed; the sum over all
 * comes from the cgroup above them, which forgets nothing, and shows how much was.
 */
export function startCpuAccount(root: string): CpuAccount {
  const before = { pods: readPods(root), seconds: readSeconds(root) ?? 0 };
  const last = new Map<string, PodTime>();
  const look = () => {
    for (const [uid, { seconds, containers }] of readPods(root)) {
      const known = last.get(uid);
      last.set(uid, { seconds, containers: new Map([...(known?.containers ?? []), ...containers]) });
    }
  };
  look();
  const timer = setInterval(look, betweenLooksMs);
  return {
    stop() {
      clearInterval(timer);
      look();
      return { pods: since(before.pods, last), seconds: (readSeconds(root) ?? 0) - before.seconds };
    },
  };
}

/** What was used between two looks. Pure. */
export function since(
  before: ReadonlyMap<string, PodTime>,
  after: ReadonlyMap<string, PodTime>,
): Map<string, PodTime> {
  const used = new Map<string, PodTime>();
  for (const [uid, { seconds, containers }] of after) {
    const earlier = before.get(uid);
    const differences = [...containers].map(([id, time]): [string, number] => [
      id,
      time - (earlier?.containers.get(id) ?? 0),
    ]);
    used.set(uid, { seconds: seconds - (earlier?.seconds ?? 0), containers: new Map(differences) });
  }
  return used;
}
