import { pause } from '#shared/base/async';
import type { KubeObject } from '#shared/base/meta';
import { conduitNamespace } from '#shared/domain';
import type { Kind } from '#shared/kubernetes/client';
import { exitCodes, Failure } from '../core/failure.ts';
import type { Cluster } from '../core/session.ts';

/** The relevant fields of a pod template. */
interface Template {
  spec: Record<string, unknown> & { containers: (Record<string, unknown> & { name: string })[] };
}

type Deployment = KubeObject & {
  spec: { replicas?: number; template: Template };
  status?: { readyReplicas?: number };
};
type CronJob = KubeObject & { spec: { jobTemplate: { spec: { template: Template } } } };
type Pod = KubeObject & {
  spec: object;
  status?: { phase?: string; containerStatuses?: { ready: boolean }[] };
};

const deployments: Kind<Deployment> = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
};
const cronJobs: Kind<CronJob> = {
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  plural: 'cronjobs',
  namespaced: true,
};
const allPods: Kind<Pod> = { apiVersion: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };

const server = { namespace: conduitNamespace, name: 'api-server' };
const backups = { namespace: conduitNamespace, name: 'backup' };
const restorer = { namespace: conduitNamespace, name: 'restore' };
/** Annotation of the Deployment with the previous replica count, so that a restore can be repeated. */
const before = 'arc.opendefense.cloud/replicas-before-restore';

/** Timeouts for changes by the cluster. */
const timeoutMs = 180_000;

/** Stops every api-server. While none responds, the garbage collector cannot look up owners of Workflows and deletes none. */
export async function stopServer({ api }: Cluster, signal: AbortSignal): Promise<void> {
  const found = await api.get(deployments, server, signal);
  if (!found)
    throw new Failure(
      exitCodes.no,
      `there is no Deployment ${server.name} in ${server.namespace}: install ARC first`,
    );
  const replicas = found.spec.replicas ?? 1;
  const patch = { spec: { replicas: 0 }, metadata: { annotations: { [before]: String(replicas) } } };
  if (replicas > 0) await api.mergePatch(deployments, server, patch, {}, signal);
  const labelSelector = `app.kubernetes.io/name=${server.name}`;
  await waitUntil('the pods of api-server to end', signal, async () => {
    const { items } = await api.list(allPods, { namespace: conduitNamespace, labelSelector }, signal);
    return items.length === 0;
  });
}

/** Restores the previous replica count and waits until a replica is ready. */
export async function startServer({ api }: Cluster, signal: AbortSignal): Promise<void> {
  const found = await api.get(deployments, server, signal);
  const replicas = Number(found?.metadata.annotations?.[before] ?? 2);
  const patch = { spec: { replicas }, metadata: { annotations: { [before]: null } } };
  await api.mergePatch(deployments, server, patch, {}, signal);
  await waitUntil('api-server to be ready', signal, async () => {
    const now = await api.get(deployments, server, signal);
    return (now?.status?.readyReplicas ?? 0) > 0;
  });
}

/**
 * Runs an idle pod with the image, certificates and settings of api-server or, with `stored`, of the backup CronJob. Resolves with its
 * container once it runs; `remove` deletes it.
 */
export async function startRestorePod(cluster: Cluster, stored: boolean, signal: AbortSignal) {
  const { api } = cluster;
  const template = await templateOf(cluster, stored, signal);
  const [container] = template.spec.containers;
  if (!container) throw new Failure(exitCodes.no, 'the pod template has no container');
  const remove = () => api.delete(allPods, restorer, {}, AbortSignal.timeout(30_000));
  await remove();
  await waitUntil(
    'an earlier restore to end',
    signal,
    async () => !(await api.get(allPods, restorer, signal)),
  );
  await api.create(allPods, restorerPod(template, container), signal);
  await waitUntil('the restore pod to run', signal, async () => {
    const pod = await api.get(allPods, restorer, signal);
    return pod?.status?.containerStatuses?.some(({ ready }) => ready) === true;
  });
  return { target: `pod/${restorer.name}`, container: container.name, remove };
}

async function templateOf({ api }: Cluster, stored: boolean, signal: AbortSignal): Promise<Template> {
  if (!stored) {
    const found = await api.get(deployments, server, signal);
    if (found) return found.spec.template;
    throw new Failure(exitCodes.no, `there is no Deployment ${server.name}`);
  }
  const found = await api.get(cronJobs, backups, signal);
  if (found) return found.spec.jobTemplate.spec.template;
  throw new Failure(
    exitCodes.no,
    `there is no CronJob ${backups.name}: install components/backup, or restore a file`,
  );
}

function restorerPod({ spec }: Template, container: Template['spec']['containers'][number]): Pod {
  const { livenessProbe: _, readinessProbe: __, startupProbe: ___, ports: ____, ...kept } = container;
  const wait = 'setTimeout(() => {}, 3_600_000); process.on("SIGTERM", () => process.exit(0));';
  const { topologySpreadConstraints: _____, ...rest } = spec;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    // The network policies allow backup pods to reach etcd.
    metadata: {
      ...restorer,
      labels: { 'app.kubernetes.io/name': 'backup', 'app.kubernetes.io/part-of': 'arc' },
    },
    spec: {
      ...rest,
      restartPolicy: 'Never',
      activeDeadlineSeconds: 3600,
      containers: [{ ...kept, command: ['node', '-e', wait] }],
    },
  };
}

async function waitUntil(what: string, signal: AbortSignal, isSo: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + timeoutMs;
  while (!(await isSo())) {
    if (performance.now() > end)
      throw new Failure(
        exitCodes.timeout,
        `timed out after ${timeoutMs / 1000} s waiting for ${what}; run the same command again`,
      );
    await pause(500, signal);
  }
}
