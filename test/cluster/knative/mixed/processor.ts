import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { arc } from '../conduit.ts';
import { field } from '../kubectl.ts';

/** The pods of a node, with cgroup v1 as the rig's kubelet has it here. */
const pods = '/sys/fs/cgroup/cpu/kubepods';
/** The weight of two cores, as the kubelet sets it for all pods of such a node. */
const usual = 2048;
/** The most that there is. */
const most = 262_144;

/**
 * Gives the pods of the node precedence over what else runs on it, and api-server over the other pods. Elsewhere an API server shares no cores with
 * those who attack it, the control plane and the tests: here a pause would say how many of these want the processor at the time. Resolves
 * with what takes it back.
 */
export async function favourApiServer(): Promise<() => Promise<void>> {
  if (!existsSync(pods)) {
    console.log(`api-server has no precedence: there is no ${pods}`);
    return async () => undefined;
  }
  const uids = await field(
    '{.items[*].metadata.uid}',
    ...['-n', arc, 'pods', '-l', 'app.kubernetes.io/name=api-server'],
  );
  for (const uid of uids.split(' ')) await weigh(path.join(pods, 'burstable', `pod${uid}`), most);
  await weigh(pods, most);
  return () => weigh(pods, usual);
}

function weigh(group: string, shares: number): Promise<void> {
  return writeFile(path.join(group, 'cpu.shares'), String(shares));
}
