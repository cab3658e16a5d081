import { sameJson } from '#shared/meta';
import { keyOf, versionsById } from '../identity/artifact.ts';
import type { ArtifactWorkflow, WorkflowPhase } from '../kinds/artifact-workflow.ts';
import type { ArtifactStatus, Order } from '../kinds/order.ts';
import { annotations, unixSeconds } from '../kinds/well-known.ts';
import { isFinished } from '../lifecycle/attempts.ts';
import { isDeleting, isFinalPhase, phaseOf } from '../lifecycle/phases.ts';
import type { OrderPlan, PlannedArtifact } from './plan.ts';

/**
 * The version of a planned artifact that is in force: an ArtifactWorkflow that exists, or the record in the Order's status of
 * one that was removed after it had finished, or neither.
 */
export interface CurrentVersion {
  artifact: PlannedArtifact;
  /** The key of the status entry: that of the ArtifactWorkflow in force, which an older version may be (`onChange`). */
  key: string;
  workflow?: ArtifactWorkflow;
  recorded?: ArtifactStatus;
}

/** The version in force of every planned artifact. decompose-order and roll-up-order both use this, so they agree. */
export function currentVersions(
  order: Order,
  plan: OrderPlan,
  existing: readonly ArtifactWorkflow[],
): CurrentVersion[] {
  const byName = new Map(existing.map((workflow) => [workflow.metadata.name, workflow]));
  const byId = versionsById(existing);
  const ends = recordedEnds(order);
  return plan.artifacts.map((artifact) => {
    const versions = (byId.get(artifact.id) ?? []).filter((one) => !isDeleting(one));
    if (artifact.state === 'ready') return readyCurrent(plan, artifact, byName, versions, ends);
    // An input is absent or being checked: a running version goes on, and a finished one stays finished.
    const [newest] = versions;
    if (newest) return { artifact, key: keyOf(newest), workflow: newest };
    return fromRecord(artifact, ends.byIndex.get(artifact.index));
  });
}

function readyCurrent(
  plan: OrderPlan,
  artifact: PlannedArtifact & { state: 'ready' },
  byName: ReadonlyMap<string, ArtifactWorkflow>,
  versions: readonly ArtifactWorkflow[],
  ends: RecordedEnds,
): CurrentVersion {
  const exact = byName.get(artifact.workflow.metadata.name);
  if (exact) return { artifact, key: artifact.key, workflow: exact };
  const recorded = ends.byKey.get(artifact.key);
  if (recorded) return { artifact, key: artifact.key, recorded };
  if (plan.onChange === 'Rerun') return { artifact, key: artifact.key };
  const kept = versions.find((one) => stillGood(plan, artifact.workflow, one));
  if (kept) return { artifact, key: keyOf(kept), workflow: kept };
  // After its ArtifactWorkflow has expired only the index identifies the artifact, while the Order's spec stays the same.
  const before = versions.length === 0 ? ends.byIndex.get(artifact.index) : undefined;
  return mayKeep(plan, before?.[1].phase) ? fromRecord(artifact, before) : { artifact, key: artifact.key };
}

function stillGood(plan: OrderPlan, wanted: ArtifactWorkflow, old: ArtifactWorkflow): boolean {
  const forced = unixSeconds(old.metadata.annotations?.[annotations.orderForceAt]);
  // A version without a configuration can never get one: its Endpoints have changed since it was made.
  const canGoOn = isFinished(old) || old.status?.configSecret !== undefined;
  // A force and a new schedule are the user's request, not a change of an Endpoint or credential.
  const asked = forced >= plan.forceAt && sameJson(wanted.spec.cron, old.spec.cron);
  return asked && canGoOn && mayKeep(plan, phaseOf(old));
}

function mayKeep(plan: OrderPlan, phase: string | undefined): boolean {
  return plan.onChange === 'Keep' || (plan.onChange === 'RerunUnfinished' && phase === 'Succeeded');
}

interface RecordedEnds {
  byKey: Map<string, ArtifactStatus>;
  byIndex: Map<number, [string, ArtifactStatus]>;
}

/** Finished entries of the status. The index identifies an artifact only in the spec, and at the force time, of the entry. */
function recordedEnds(order: Order): RecordedEnds {
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

function fromRecord(artifact: PlannedArtifact, found: [string, ArtifactStatus] | undefined): CurrentVersion {
  if (!found) return { artifact, key: artifact.key };
  return { artifact, key: found[0], recorded: found[1] };
}
