import type { Logger } from 'pino';
import { ArcError } from '#shared/base/errors';
import type { KubeObject } from '#shared/base/meta';
import type { Kind, KubeClient } from '#shared/kubernetes/client';
import type { LiveLogs, PodLogs } from '../kinds/live-logs.ts';
import type { Plan } from './plan.ts';
import type { Attempt } from './status.ts';
import type { Workflow } from './workflow.ts';
import { writeUntilDone } from './write.ts';

type Pod = KubeObject & { status?: { phase?: string } };

const pods: Kind<Pod> = { apiVersion: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };
const workflowLabel = 'workflows.argoproj.io/workflow';

export interface PodOptions {
  api: KubeClient;
  liveLogs: LiveLogs;
  /** A program that ends sooner gets a pod only at its end. */
  podAfterMs: number;
  /** True while other Workflows wait: then a program that ends sooner, and successfully, gets no pod at all. */
  isBusy: () => boolean;
  signal: AbortSignal;
  log: Logger;
}

/** The Pod of one attempt, for `kubectl logs` and for the search for causes. It is deleted with its Workflow. */
export interface AttemptPod {
  logs: PodLogs;
  /** Records the end of the attempt, with the log. A withdrawn attempt leaves no pod: it was stopped on purpose. */
  end(isWithdrawn: boolean): Promise<void>;
}

/** Starts the Pod of an attempt; `attempt` is updated as time goes by. */
export function createPod(
  workflow: Workflow,
  plan: Plan,
  nodeId: string,
  attempt: Attempt,
  options: PodOptions,
): AttemptPod {
  const { api, signal } = options;
  const { namespace } = workflow.metadata;
  const key = { name: nodeId, ...(namespace !== undefined && { namespace }) };
  const logs = options.liveLogs.open(key);
  let shown: Promise<boolean> | undefined;
  const timer = setTimeout(() => {
    shown = put(podOf(workflow, plan, nodeId, attempt), options);
  }, options.podAfterMs);
  return {
    logs,
    async end(isWithdrawn) {
      clearTimeout(timer);
      logs.end();
      const isThere = await shown;
      const pod = podOf(workflow, plan, nodeId, attempt);
      const isMute = isWithdrawn || attempt.result?.log === undefined;
      const mayBeLeftOut = shown === undefined && pod.status?.phase === 'Succeeded' && options.isBusy();
      // Readers would take the pod for running for as long as its status says so.
      if (isMute && shown !== undefined)
        await writeUntilDone(key, () => api.delete(pods, key, {}, signal), options);
      else if (isThere)
        await writeUntilDone(
          key,
          () => api.mergePatch(pods, key, { status: pod.status }, undefined, signal),
          options,
        );
      else if (!isMute && !mayBeLeftOut) await put(pod, options);
      logs.forget();
    },
  };
}

/** Removes pods with phase Running that an earlier executor left. Rejects with errors of the API. */
export async function removeLeftPods(
  workflow: Workflow,
  { api, signal }: Pick<PodOptions, 'api' | 'signal'>,
): Promise<void> {
  const { name, namespace } = workflow.metadata;
  const selection = {
    labelSelector: `${workflowLabel}=${name}`,
    ...(namespace !== undefined && { namespace }),
  };
  const { items } = await api.list(pods, selection, signal);
  for (const { metadata, status } of items)
    if (status?.phase === 'Running') await api.delete(pods, metadata, {}, signal);
}

/** Builds the Pod in the form of Argo and the kubelet, running or ended. */
function podOf(workflow: Workflow, plan: Plan, nodeId: string, attempt: Attempt): Pod {
  const { apiVersion, kind, metadata } = workflow;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: nodeId,
      ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
      labels: { [workflowLabel]: metadata.name },
      annotations: { 'workflows.argoproj.io/node-id': nodeId },
      ownerReferences: [{ apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '', controller: true }],
    },
    spec: {
      restartPolicy: 'Never',
      containers: plan.containers.map(({ name, image, args, env, mounts, terminationMessagePolicy }) => ({
        name,
        image,
        args,
        env,
        volumeMounts: mounts,
        ...(terminationMessagePolicy !== undefined && { terminationMessagePolicy }),
      })),
      volumes: plan.volumes,
    },
    status: statusOf(plan, attempt),
  };
}

function statusOf({ containers }: Plan, { result, startedAt, finishedAt }: Attempt): { phase: string } {
  const restartCount = 0;
  if (result?.log === undefined) {
    const running = { ready: true, restartCount, state: { running: { startedAt } } };
    const containerStatuses = containers.map(({ name }) => ({ name, ...running }));
    return { phase: 'Running', ...{ startTime: startedAt, containerStatuses } };
  }
  const isSuccess = result.phase === 'Succeeded';
  const terminated = {
    exitCode: Number(result.exitCode ?? 143),
    reason: isSuccess ? 'Completed' : 'Error',
    startedAt,
    ...(finishedAt !== undefined && { finishedAt }),
  };
  const { container: name, text } = result.log;
  return {
    phase: isSuccess ? 'Succeeded' : 'Failed',
    ...{
      startTime: startedAt,
      containerStatuses: [{ name, ready: false, restartCount, state: { terminated } }],
    },
    // A kubelet keeps logs in files.
    ...{ logs: { [name]: text } },
  };
}

/** Creates the Pod, replacing one of an earlier executor. Only the log depends on it: a failure is logged. */
async function put(pod: Pod, { api, signal, log }: PodOptions): Promise<boolean> {
  try {
    await api.delete(pods, pod.metadata, {}, signal);
    await api.create(pods, pod, signal);
    return true;
  } catch (caught) {
    const { name } = pod.metadata;
    if (!signal.aborted) log.warn({ err: ArcError.from(caught), name }, 'a log cannot be shown');
    return false;
  }
}
