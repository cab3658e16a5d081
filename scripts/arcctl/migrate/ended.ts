import { isRecord, ownerReference } from '#shared/base/meta';
import {
  type ArtifactWorkflow,
  type ArtifactWorkflowStatus,
  argoApiVersion,
  currentWorkflow,
  isFinalPhase,
  lastMilestone,
  syncedStatus,
  type Workflow,
} from '#shared/domain';
import type { Foreign } from './convert.ts';

/** The state of one artifact in the Go ARC. */
export interface Standing {
  phase: string;
  message?: string;
  /** Completion time. */
  time?: string;
}

/** Returns the standing of each artifact of an Order, by its index. The status of an ArtifactWorkflow may be newer than that of its Order. */
export function standingsOf(order: Foreign, transfers: ReadonlyMap<string, Foreign>): Map<number, Standing> {
  const { name, namespace } = order.metadata;
  const entries = isRecord(order.status?.artifactWorkflows) ? order.status.artifactWorkflows : {};
  const found = new Map<number, Standing>();
  for (const [key, entry] of Object.entries(entries)) {
    if (!isRecord(entry)) continue;
    const { status = {} } = transfers.get(`${namespace}/${name}-${key}`) ?? {};
    const index = typeof entry.artifactIndex === 'number' ? entry.artifactIndex : 0;
    found.set(index, standingOf({ ...entry, ...status }));
  }
  return found;
}

/** Returns the standing that a status of the Go ARC shows. */
export function standingOf({
  phase,
  message,
  completionTime,
  failureTime,
}: Record<string, unknown>): Standing {
  const time = [completionTime, failureTime].find((one) => typeof one === 'string');
  return {
    phase: typeof phase === 'string' ? phase : '',
    ...(typeof message === 'string' && message !== '' ? { message } : {}),
    ...(typeof time === 'string' ? { time } : {}),
  };
}

/** True for a finished artifact, which must not run again. */
export function hasStopped({ phase }: Standing): boolean {
  return isFinalPhase(phase);
}

/** True if the artifact's Workflow may still run in the cluster of the Go ARC. */
export function mayRun({ phase }: Standing): boolean {
  return phase === 'Running' || phase === 'Pending';
}

/** Returns the status of an ArtifactWorkflow whose transfer ended in the Go ARC, as sync-status would write it for such a Workflow. */
export function adoptedStatus(
  workflow: ArtifactWorkflow,
  { phase, message, time }: Standing,
  now: Date,
): ArtifactWorkflowStatus | undefined {
  const isStopped = phase === 'Stopped';
  const run: Workflow = {
    apiVersion: argoApiVersion,
    kind: 'Workflow',
    metadata: { name: currentWorkflow(workflow).name, ownerReferences: [ownerReference(workflow)] },
    spec: isStopped ? { shutdown: 'Terminate' } : {},
    status: {
      phase: (isStopped ? 'Failed' : phase) as 'Succeeded' | 'Failed' | 'Error',
      ...(message === undefined ? {} : { message }),
      ...(time === undefined ? {} : { finishedAt: time }),
    },
  };
  const patch = syncedStatus(workflow, run, now);
  if (patch === undefined) return undefined;
  const status = { ...patch, attempts: 1 } as ArtifactWorkflowStatus;
  // Domain events are not repeated for transfers of the Go ARC.
  return { ...status, announced: lastMilestone({ ...workflow, status }) };
}
