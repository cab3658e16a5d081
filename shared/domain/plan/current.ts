import { sameJson } from '#shared/base/meta';
import {
  contentOfVersion,
  isAlwaysVerified,
  keyOf,
  revisionOf,
  versionsAmong,
} from '../identity/artifact.ts';
import type { Target } from '../identity/target.ts';
import type { ArtifactWorkflow, WorkflowPhase } from '../kinds/artifact-workflow.ts';
import type { ArtifactStatus, Order } from '../kinds/order.ts';
import { annotations, unixSeconds } from '../kinds/well-known.ts';
import { isFinished } from '../lifecycle/attempts.ts';
import { isDeleting, isFinalPhase, phaseOf } from '../lifecycle/phases.ts';
import { isBoundBy } from './enforced.ts';
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
  /** The revision of the version to make, where there is neither. */
  revision?: number;
  /** All versions of the artifact that exist, the one put in force last first. */
  versions: readonly ArtifactWorkflow[];
}

/** What decides which version of each artifact is in force. */
type Versioning = Pick<OrderPlan, 'artifacts' | 'onChange' | 'forceAt'>;

/** Pairs every planned artifact with what stands for it. decompose-order and roll-up-order agree because both ask here. */
export function currentVersions(
  order: Order,
  plan: Versioning,
  existing: readonly ArtifactWorkflow[],
): CurrentVersion[] {
  const versionsOf = versionsAmong(existing);
  const ends = recordedEnds(order);
  const writers = Map.groupBy(plan.artifacts, (one) => (one.state === 'ready' ? one.target.key : undefined));
  return plan.artifacts.map((artifact) => {
    if (artifact.state === 'ready') {
      const { id, target, workflow } = artifact;
      const targets = ownTargets(target, writers);
      const versions = versionsOf({ id, targets, name: workflow.metadata.name });
      return { versions, ...readyCurrent(plan, artifact, versions, ends) };
    }
    const versions = versionsOf({ id: artifact.id });
    // What it was made for is away or being looked at: what runs goes on, what is done stays done.
    const newest = versions.find((one) => !isDeleting(one));
    if (newest && (isFinished(newest) ? isAnswer(plan, artifact, newest) : mayGoOn(artifact, newest)))
      return { artifact, key: keyOf(newest), workflow: newest, versions };
    return { versions, ...fromRecord(artifact, ends.byIndex.get(artifact.index)) };
  });
}

/** False for an unfinished version that a policy of today does not bind, or that may not use its Endpoints any more. */
export function mayGoOn(artifact: PlannedArtifact, { spec }: ArtifactWorkflow): boolean {
  if (artifact.state === 'held')
    return artifact.isForbidden !== true && isBoundBy(spec.policies, artifact.enforced ?? []);
  const enforced = artifact.workflow.spec.policies ?? [];
  return isBoundBy(
    spec.policies,
    enforced.map(({ digest }) => digest),
  );
}

/**
 * The keys by which a place shows which ArtifactWorkflows are versions of the artifact. None where an earlier release put two artifacts into one
 * place, and not what that release called it where another artifact's place is called so now.
 */
function ownTargets(
  { key, formerKey = key }: Target,
  writers: ReadonlyMap<string | undefined, readonly PlannedArtifact[]>,
): string[] {
  if ((writers.get(key) ?? []).length > 1) return [];
  return writers.has(formerKey) ? [key] : [key, formerKey];
}

/** False once the user has asked for something else, by an edit or a force: what is done is no answer to that. */
function isAnswer(
  { forceAt }: Versioning,
  artifact: PlannedArtifact & { state: 'held' },
  done: ArtifactWorkflow,
) {
  return contentOfVersion(done) === artifact.content && forcedAt(done) >= forceAt;
}

function forcedAt({ metadata }: ArtifactWorkflow): number {
  return unixSeconds(metadata.annotations?.[annotations.orderForceAt]);
}

/**
 * Only the version that was put in force last can stand for the artifact. An earlier one of the wanted name does not: what
 * came after it may have written to the same place, so its success is history.
 */
function readyCurrent(
  plan: Versioning,
  artifact: PlannedArtifact & { state: 'ready' },
  versions: readonly ArtifactWorkflow[],
  ends: RecordedEnds,
): Omit<CurrentVersion, 'versions'> {
  const { key } = artifact;
  const [newest] = versions;
  if (newest?.metadata.name === artifact.workflow.metadata.name) return { artifact, key, workflow: newest };
  const latest = newest ? revisionOf(newest) : 0;
  const recorded = ends.byKey.get(key);
  const before = recorded?.revision ?? (recorded ? 1 : 0);
  const revision = Math.max(latest, before) + 1;
  if (recorded && (newest === undefined || before > latest)) return { artifact, key, recorded, revision };
  if (plan.onChange === 'Rerun') return { artifact, key, revision };
  if (newest && !isDeleting(newest) && stillGood(plan, artifact, newest))
    return { artifact, key: keyOf(newest), workflow: newest };
  // Once its ArtifactWorkflow has expired only the index tells, and only while the Order is as it was.
  const expired = newest === undefined ? ends.byIndex.get(artifact.index) : undefined;
  return mayKeep(plan, expired?.[1].phase)
    ? { ...fromRecord(artifact, expired), revision }
    : { artifact, key, revision };
}

function stillGood(
  plan: Versioning,
  artifact: PlannedArtifact & { state: 'ready' },
  old: ArtifactWorkflow,
): boolean {
  const wanted = artifact.workflow;
  // A version without a configuration can never get one: its Endpoints have changed since it was made.
  const canGoOn = isFinished(old) || (old.status?.configSecret !== undefined && mayGoOn(artifact, old));
  // An edit of the artifact, a force, a new schedule and spec.verify are the user's own wish, not a change of an Endpoint or credential.
  const asked =
    contentOfVersion(wanted) === contentOfVersion(old) &&
    forcedAt(old) >= plan.forceAt &&
    sameJson(wanted.spec.cron, old.spec.cron) &&
    isAlwaysVerified(wanted) === isAlwaysVerified(old);
  return asked && canGoOn && mayKeep(plan, phaseOf(old));
}

function mayKeep(plan: Versioning, phase: string | undefined): boolean {
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

function fromRecord(
  artifact: PlannedArtifact,
  found: [string, ArtifactStatus] | undefined,
): Omit<CurrentVersion, 'versions'> {
  if (!found) return { artifact, key: artifact.key };
  return { artifact, key: found[0], recorded: found[1] };
}
