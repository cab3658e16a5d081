import { sameJson } from '#shared/base/meta';
import {
  contentOfVersion,
  isAlwaysVerified,
  keyOf,
  revisionOf,
  versionsAmong,
} from '../identity/artifact.ts';
import type { Target } from '../identity/target.ts';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import type { ArtifactStatus, Order } from '../kinds/order.ts';
import type { WorkflowPhase } from '../kinds/phases.ts';
import { annotations, unixSeconds } from '../kinds/well-known.ts';
import { isFinished } from '../lifecycle/attempts.ts';
import { isDeleting, isFinalPhase, phaseOf } from '../lifecycle/phases.ts';
import { isEntryOfEarlierRelease, isFromEarlierRelease } from './earlier-release.ts';
import { isBoundBy } from './enforced.ts';
import type { OrderPlan, PlannedArtifact } from './plan.ts';

/**
 * The version of a planned artifact that is in force: an existing ArtifactWorkflow, or the record in the Order's status of an
 * ArtifactWorkflow that was removed after it had finished, or neither.
 */
export interface CurrentVersion {
  artifact: PlannedArtifact;
  /** The key of the status entry: that of the ArtifactWorkflow in force, which may be an older version (`onChange`). */
  key: string;
  workflow?: ArtifactWorkflow;
  recorded?: ArtifactStatus;
  /** The revision of the version to create, where there is neither. */
  revision?: number;
  /** All existing versions of the artifact, latest revision first. */
  versions: readonly ArtifactWorkflow[];
}

/** The inputs that decide which version of each artifact is in force. */
type Versioning = Pick<OrderPlan, 'artifacts' | 'onChange' | 'forceAt'>;

/** Pairs every planned artifact with its version in force. decompose-order and roll-up-order agree because both call this function. */
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
      return { versions, ...readyCurrent({ ...plan, order }, artifact, versions, ends) };
    }
    const versions = versionsOf({ id: artifact.id });
    // An input is absent or being read again: a running version continues, a finished version stays finished.
    const newest = versions.find((one) => !isDeleting(one));
    if (newest && (isFinished(newest) ? isAnswer(plan, artifact, newest) : mayGoOn(artifact, newest)))
      return { artifact, key: keyOf(newest), workflow: newest, versions };
    return { versions, ...fromRecord(artifact, ends.byIndex.get(artifact.index)) };
  });
}

/** False for an unfinished version that a current policy does not bind, or that may no longer use its Endpoints. */
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
 * Returns the keys of the artifact's place, by which its versions are found. Empty where an earlier release put two artifacts into one place;
 * without the former key where another artifact's place has that key now.
 */
function ownTargets(
  { key, formerKey = key }: Target,
  writers: ReadonlyMap<string | undefined, readonly PlannedArtifact[]>,
): string[] {
  if ((writers.get(key) ?? []).length > 1) return [];
  return writers.has(formerKey) ? [key] : [key, formerKey];
}

/** False once the user has requested something else, by an edit or a force: a recorded end does not answer such a request. */
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
 * Only the latest revision can be in force. An earlier version with the wanted name cannot: a later version may have written to the
 * same place, so the earlier success is history.
 */
function readyCurrent(
  plan: Versioning & { order: Order },
  artifact: PlannedArtifact & { state: 'ready' },
  versions: readonly ArtifactWorkflow[],
  ends: RecordedEnds,
): Omit<CurrentVersion, 'versions'> {
  const { key } = artifact;
  const [newest] = versions;
  if (newest?.metadata.name === artifact.workflow.metadata.name) return { artifact, key, workflow: newest };
  if (newest && !isDeleting(newest) && isFromEarlierRelease(artifact.workflow, newest))
    return { artifact, key: keyOf(newest), workflow: newest };
  const latest = newest ? revisionOf(newest) : 0;
  const recorded = ends.byKey.get(key);
  const before = recorded?.revision ?? (recorded ? 1 : 0);
  const revision = Math.max(latest, before) + 1;
  if (recorded && (newest === undefined || before > latest)) return { artifact, key, recorded, revision };
  // Once its ArtifactWorkflow has expired only the index identifies the artifact, and only while the Order is unchanged.
  const expired = newest === undefined ? ends.byIndex.get(artifact.index) : undefined;
  if (expired && isEntryOfEarlierRelease(plan.order, expired[1], artifact.workflow))
    return { ...fromRecord(artifact, expired), revision };
  if (plan.onChange === 'Rerun') return { artifact, key, revision };
  if (newest && !isDeleting(newest) && stillGood(plan, artifact, newest))
    return { artifact, key: keyOf(newest), workflow: newest };
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
  // An edit of the artifact, a force, a new schedule and spec.verify are requests of the user, not changes of an Endpoint or credential.
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

/** Returns the finished entries of the status. An index identifies an artifact only for the spec and the force time of its entry. */
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
