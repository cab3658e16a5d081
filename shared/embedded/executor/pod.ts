import type { Logger } from 'pino';
import { ArcError } from '#shared/errors';
import type { Kind, KubeClient } from '#shared/kube';
import type { KubeObject } from '#shared/meta';
import type { Plan } from './plan.ts';
import type { Attempt } from './status.ts';
import type { Workflow } from './workflow.ts';

const pods: Kind = { apiVersion: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };

/**
 * The Pod of an attempt that failed, as Argo and the kubelet leave it: for `kubectl logs`, and for whoever looks for the reason. It goes with its
 * Workflow. Undefined where nothing ran.
 */
export function podOf(
  workflow: Workflow,
  plan: Plan,
  nodeId: string,
  attempt: Attempt,
): KubeObject | undefined {
  const { apiVersion, kind, metadata } = workflow;
  const { result, startedAt, finishedAt } = attempt;
  if (result?.phase !== 'Failed' || result.log === undefined) return undefined;
  const { container, text } = result.log;
  const exitCode = Number(result.exitCode ?? 143);
  const terminated = {
    exitCode,
    reason: 'Error',
    startedAt,
    ...(finishedAt !== undefined && { finishedAt }),
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: nodeId,
      ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
      labels: { 'workflows.argoproj.io/workflow': metadata.name },
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
    status: {
      phase: 'Failed',
      startTime: startedAt,
      // A kubelet has it in files.
      logs: { [container]: text },
      containerStatuses: [{ name: container, ready: false, restartCount: 0, state: { terminated } }],
    },
  };
}

/** Puts the Pod there, in place of one that a former executor left. Without it the log is lost, and nothing else: a failure is only logged. */
export async function leavePod(
  api: KubeClient,
  pod: KubeObject,
  signal: AbortSignal,
  log: Logger,
): Promise<void> {
  try {
    await api.delete(pods, pod.metadata, {}, signal);
    await api.create(pods, pod, signal);
  } catch (caught) {
    if (!signal.aborted)
      log.warn({ err: ArcError.from(caught), name: pod.metadata.name }, 'a log could not be kept');
  }
}
