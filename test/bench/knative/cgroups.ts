import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** CPU time of a pod, in seconds, and of each of its containers that are there, by container id. */
export interface PodTime {
  seconds: number;
  containers: Map<string, number>;
}

const uidInName = /pod([0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12})/;
const idInName = /([0-9a-f]{64})/;
/** What kubelet puts between the root and its pods, named as by cgroupfs or by systemd. */
const qualityOfService = /^(?:kubepods-)?(?:burstable|besteffort)(?:\.slice)?$/;

/** The cgroup that all pods of this machine are in, by either version of cgroups and either driver of kubelet; undefined if it is no node. */
export function findPodsRoot(cgroups = '/sys/fs/cgroup'): string | undefined {
  for (const mount of [path.join(cgroups, 'cpuacct'), cgroups])
    for (const name of ['kubepods', 'kubepods.slice']) {
      const root = path.join(mount, name);
      if (existsSync(root)) return root;
    }
  return undefined;
}

/**
 * CPU time of every pod below `root`, by uid. Read at once and not in turns: a pod that ends in between is left out. A pod's time includes that
 * of its containers that have ended, and the root's that of pods that have.
 */
export function readPods(root: string): Map<string, PodTime> {
  const pods = new Map<string, PodTime>();
  const read = (folder: string): void => {
    for (const name of foldersOf(folder)) {
      const place = path.join(folder, name);
      const uid = uidInName.exec(name)?.[1]?.replaceAll('_', '-');
      if (uid === undefined) {
        if (qualityOfService.test(name)) read(place);
        continue;
      }
      const seconds = readSeconds(place);
      if (seconds !== undefined) pods.set(uid, { seconds, containers: readContainers(place) });
    }
  };
  read(root);
  return pods;
}

function readContainers(pod: string): Map<string, number> {
  const containers = new Map<string, number>();
  for (const name of foldersOf(pod)) {
    const id = idInName.exec(name)?.[1];
    const seconds = readSeconds(path.join(pod, name));
    if (id !== undefined && seconds !== undefined) containers.set(id, seconds);
  }
  return containers;
}

/** CPU time of a cgroup, user and system, in seconds; undefined once it is gone. */
export function readSeconds(folder: string): number | undefined {
  const nanoseconds = readIfThere(path.join(folder, 'cpuacct.usage'));
  if (nanoseconds !== undefined) return Number(nanoseconds) / 1e9;
  const stat = readIfThere(path.join(folder, 'cpu.stat'));
  const microseconds = stat === undefined ? undefined : /^usage_usec (\d+)$/m.exec(stat)?.[1];
  return microseconds === undefined ? undefined : Number(microseconds) / 1e6;
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (caught) {
    if (isGone(caught)) return undefined;
    throw caught;
  }
}

function foldersOf(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name);
  } catch (caught) {
    if (isGone(caught)) return [];
    throw caught;
  }
}

/** ENODEV is what a file of a cgroup says that is removed while it is read. */
function isGone(caught: unknown): boolean {
  const code = caught instanceof Error && 'code' in caught ? caught.code : undefined;
  return code === 'ENOENT' || code === 'ENODEV';
}
