import { createKubeClient, type KubeClient, programAccess } from '#shared/kubernetes/client';
import { atZero, dev, install, uninstall } from '../../cluster/knative/conduit.ts';
import { kubectl, lines } from '../../cluster/knative/kubectl.ts';
import { removeTeam } from '../../cluster/knative/team.ts';
import { progress } from '../measure/report.ts';

/** What a cluster lacks before its benches can run; undefined where nothing is missing. */
export function whatIsMissing(env: NodeJS.ProcessEnv): string | undefined {
  const missing = ['KUBECONFIG', 'REGISTRY_TOOLS'].filter((name) => !env[name]);
  if (missing.length === 0) return undefined;
  return `cold and order are left out: set ${missing.join(' and ')} (a cluster with Knative and Argo, prepared as by .ci/rig-images.sh; a folder made by .ci/registry-tools/build.sh), with kubectl in PATH`;
}

/** Runs `bench` against the cluster of KUBECONFIG with ARC in it; installs it where it is not there, and then removes it again. */
export async function withConduit(bench: (client: KubeClient) => Promise<void>): Promise<void> {
  const apiService = 'apiservice/v1alpha1.arc.opendefense.cloud';
  const isThere = (await lines('get', apiService, '--ignore-not-found', '-o', 'name')).length > 0;
  progress(isThere ? 'ARC is installed: measured as it is, and left there' : 'installing ARC');
  try {
    if (!isThere) await install(dev);
    await removeTeam();
    const others = (await lines('get', 'orders', '-A', '-o', 'name')).length;
    if (others > 0) progress(`there are ${others} Orders of others: their work is part of all figures`);
    await bench(createKubeClient({ ...(await programAccess(process.env)), userAgent: 'arc-bench' }));
  } finally {
    await removeTeam();
    if (!isThere) await uninstall(dev);
  }
}

/**
 * Every function at zero, and without pods: one that was scaled down lives on for half a minute, since queue-proxy waits for late requests.
 * Rejects where an overlay keeps functions running.
 */
export async function toRest(): Promise<void> {
  await atZero();
  const ofFunctions = ['-n', 'arc-system', 'delete', 'pods', '-l', 'serving.knative.dev/service'];
  await kubectl(...ofFunctions, '--force', '--grace-period=0', '--wait=true');
}
