import { sameJson } from '#shared/meta';
import { keyOf, versionsById } from '../identity/artifact.ts';
import type { ArtifactWorkflow, WorkflowPhase } from '../kinds/artifact-workflow.ts';
import type { ArtifactStatus, Order } from '../kinds/order.ts';
import { annotations, unixSeconds } from '../kinds/well-known.ts';
import { isFinished } from '../lifecycle/attempts.ts';
import { isDeleting, isFinalPhase, phaseOf } from '../lifecycle/phases.ts';
import type { OrderPlan, PlannedArtifact } from './plan.ts';

/**
 * What stands for one planned artifact at present: an ArtifactWorkflow that exists, or what the Order's status remembers of
 * one that was removed after it had finished, or neither.
 */
export interface Current {
  artifact: PlannedArtifact;
  /** The key of the status entry: that of the ArtifactWorkflow in force, which an older version may be (`onChange`). */
  key: string;
  workflow?: ArtifactWorkflow;
  remembered?: ArtifactStatus;
}

/** Pairs every planned artifact with what stands for it. decompose-order and roll-up-order agree because both ask here. */
export function currentOf(order: Order, plan: OrderPlan, existing: readonly ArtifactWorkflow[]): Current[] {
  const byName = new Map(existing.map((workflow) => [workflow.metadata.name, workflow]));
  const byId = versionsById(existing);
  const memory = memoryOf(order);
  return plan.artifacts.map((artifact) => {
    const versions = (byId.get(artifact.id) ?? []).filter((one) => !isDeleting(one));
    if (artifact.state === 'ready') return readyCurrent(plan, artifact, byName, versions, memory);
    // What it was made for is away or being looked at: what runs goes on, what is done stays done.
    const [newest] = versions;
    if (newest) return { artifact, key: keyOf(newest), workflow: newest };
    return fromMemory(artifact, memory.byIndex.get(artifact.index));
  });
}

function readyCurrent(
  plan: OrderPlan,
  artifact: PlannedArtifact & { state: 'ready' },
  byName: ReadonlyMap<string, ArtifactWorkflow>,
  versions: readonly ArtifactWorkflow[],
  memory: Memory,
): Current {
  const exact = byName.get(artifact.workflow.metadata.name);
  if (exact) return { artifact, key: artifact.key, workflow: exact };
  const remembered = memory.byKey.get(artifact.key);
  if (remembered) return { artifact, key: artifact.key, remembered };
  if (plan.onChange === 'Rerun') return { artifact, key: artifact.key };
  const kept = versions.find((one) => stillGood(plan, artifact.workflow, one));
  if (kept) return { artifact, key: keyOf(kept), workflow: kept };
  // Once its ArtifactWorkflow has expired only the index tells, and only while the Order is as it was.
  const before = versions.length === 0 ? memory.byIndex.get(artifact.index) : undefined;
  return mayKeep(plan, before?.[1].phase) ? fromMemory(artifact, before) : { artifact, key: artifact.key };
}

function stillGood(plan: OrderPlan, wanted: ArtifactWorkflow, old: ArtifactWorkflow): boolean {
  const forced = unixSeconds(old.metadata.annotations?.[annotations.orderForceAt]);
  // What has no configuration yet can get none any more: its Endpoints are not what it was made for.
  const canGoOn = isFinished(old) || old.status?.configSecret !== undefined;
  // A force and a new schedule are the user's own wish, not a change of an Endpoint or credential.
  const asked = forced >= plan.forceAt && sameJson(wanted.spec.cron, old.spec.cron);
  return asked && canGoOn && mayKeep(plan, phaseOf(old));
}

function mayKeep(plan: OrderPlan, phase: string | undefined): boolean {
  return plan.onChange === 'Keep' || (plan.onChange === 'RerunUnfinished' && phase === 'Succeeded');
}

interface Memory {
  byKey: Map<string, ArtifactStatus>;
  byIndex: Map<number, [string, ArtifactStatus]>;
}

/** Finished entries of the status. By index they are good only for the spec and the force time they were written for. */
function memoryOf(order: Order): Memory {
  const entries = Object.entries(order.status?.artifactWorkflows ?? {}).filter(
    ([, { phase, completionTime }]) => isFinalPhase(phase as WorkflowPhase) && completionTime !== undefined,
  );
  const asked = unixSeconds(order.metadata.annotations?.[annotations.forceAt]);
  const answered = Date.parse(order.status?.lastForceAt ?? '') / 1000;
  const sameSpec = order.status?.observedGeneration === order.metadata.generation;
  const indexed = sameSpec && (asked === 0 || answered >= asked);
  return {
    byKey: new Map(entries),
    byIndex: new Map(indexed ? entries.map(([key, entry]) => [entry.artifactIndex, [key, entry]]) : []),
  };
}

function fromMemory(artifact: PlannedArtifact, found: [string, ArtifactStatus] | undefined): Current {
  if (!found) return { artifact, key: artifact.key };
  return { artifact, key: found[0], remembered: found[1] };
}
