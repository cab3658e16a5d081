import type { Workflow } from '../kinds/argo.ts';
import type { Pod } from '../kinds/core.ts';
import type { PendingWorkloads, Workload } from '../kinds/kueue.ts';
import { labels } from '../kinds/well-known.ts';
import { isCompleted } from '../lifecycle/phases.ts';
import { longestMessage } from '../values/limits.ts';
import { cut } from '../values/text.ts';

/** Where a Workflow stands in Kueue's queue. */
export interface QueuePlace {
  /** The LocalQueue. */
  queue: string;
  /** From 1, among the pods of the LocalQueue; undefined if Kueue does not list the pod, or may not be asked. */
  position?: number;
  /** Why the pod waits, in Kueue's words. */
  reason?: string;
  /** True once Kueue has admitted the pod, which has not started. */
  isAdmitted?: boolean;
}

/**
 * True while a Workflow waits in Kueue's queue: Argo reports Running, a pod is Pending, and no pod runs. A pod that was preempted has ended, and
 * its successor waits. An admitted Workflow that has not started yet looks the same.
 */
export function isQueued({ metadata, status = {} }: Workflow): boolean {
  if (metadata.labels?.[labels.queue] === undefined || status.phase !== 'Running') return false;
  const pods = Object.values(status.nodes ?? {}).filter(({ type }) => type === 'Pod');
  const open = pods.filter(({ phase }) => !isCompleted(phase));
  return open.length > 0 && open.every(({ phase }) => phase === 'Pending');
}

/** Returns the pod that Kueue holds back; undefined if all are admitted. */
export function gatedPod(pods: readonly Pod[]): Pod | undefined {
  return pods.find(({ spec }) =>
    spec?.schedulingGates?.some(({ name }) => name.startsWith('kueue.x-k8s.io/')),
  );
}

/** Returns the place of a pod that Kueue holds back. `workload`: the Workload of the pod. `pending`: what waits in the LocalQueue. */
export function placeInQueue(
  queue: string,
  workload: Workload | undefined,
  pending: PendingWorkloads | undefined,
): QueuePlace {
  const found = pending?.items?.find(({ metadata }) => metadata.name === workload?.metadata.name);
  const reserved = workload?.status?.conditions?.find(({ type }) => type === 'QuotaReserved');
  return {
    queue,
    ...(found?.positionInLocalQueue === undefined ? {} : { position: found.positionInLocalQueue + 1 }),
    ...(reserved?.status === 'False' && reserved.message ? { reason: reserved.message } : {}),
  };
}

/** Returns the message of a Workflow that waits, for people. `positionIn` reads it. */
export function queueMessage({ queue, position, reason, isAdmitted = false }: QueuePlace): string {
  if (isAdmitted) return `LocalQueue "${queue}" has admitted its pod, which has not started yet`;
  const where = position === undefined ? 'it waits' : `position ${position}`;
  return cut(`${where} in LocalQueue "${queue}"${reason === undefined ? '' : `: ${reason}`}`, longestMessage);
}

/** Returns the position that a result of `queueMessage` names. */
export function positionIn(message: string | undefined): number | undefined {
  const [, position] = /^position (\d{1,9}) in LocalQueue "/.exec(message ?? '') ?? [];
  return position === undefined ? undefined : Number(position);
}
