import { sameJson } from '#shared/base/meta';
import { contentOfVersion, isAlwaysVerified } from '../identity/artifact.ts';
import type { ArtifactWorkflow, EndpointRef } from '../kinds/artifact-workflow.ts';
import { annotations, unixSeconds } from '../kinds/well-known.ts';
import { phaseOf } from '../lifecycle/phases.ts';

/** The writes of a decision about children that carry causes. */
interface Writes {
  create: readonly Pick<ArtifactWorkflow, 'metadata'>[];
  patches: readonly { patch: { metadata?: { annotations?: Record<string, string | null> } } }[];
}

/** Artifacts of an Order that run again for the same cause. */
export interface Rerun {
  /** A clause in the past tense, such as `Endpoint "dst" changed`. */
  cause: string;
  artifacts: number;
}

/** The cause of runs that a retry-at starts. */
export const retryCause = 'retry-at was set';

/** Returns why the wanted version replaces an earlier one: what differs between the two. */
export function causeOf(wanted: ArtifactWorkflow, earlier: ArtifactWorkflow): string {
  if (forceOf(wanted) > forceOf(earlier)) return 'force-at was set';
  if (contentOfVersion(wanted) !== contentOfVersion(earlier)) return 'it was edited';
  if (!sameJson(wanted.spec.cron, earlier.spec.cron)) return 'its schedule changed';
  if (isAlwaysVerified(wanted) !== isAlwaysVerified(earlier)) return 'spec.verify changed';
  const { type, srcRef, dstRef } = wanted.spec;
  const moved = changeOf(srcRef, earlier.spec.srcRef) ?? changeOf(dstRef, earlier.spec.dstRef);
  if (moved) return moved;
  const work = ({ spec }: ArtifactWorkflow) => [spec.workflowTemplateRef, spec.parameters, spec.artifact];
  return sameJson(work(wanted), work(earlier)) ? 'it is wanted again' : `artifact type "${type}" changed`;
}

/** Returns what runs again when the decision is carried out, grouped by cause. */
export function rerunsIn({ create, patches }: Writes): Rerun[] {
  const notes = [
    ...create.map(({ metadata }) => metadata.annotations?.[annotations.cause]),
    ...patches.map(({ patch }) => patch.metadata?.annotations?.[annotations.cause]),
  ];
  const counts = new Map<string, number>();
  for (const cause of notes) if (cause) counts.set(cause, (counts.get(cause) ?? 0) + 1);
  return [...counts].map(([cause, artifacts]) => ({ cause, artifacts }));
}

/**
 * True for a version that still has to answer a force, because no version has succeeded since. Never true for a schedule, whose runs come
 * at their own times.
 */
export function answersForce(wanted: ArtifactWorkflow, versions: readonly ArtifactWorkflow[]): boolean {
  const answered = versions.filter((version) => phaseOf(version) === 'Succeeded').map(forceOf);
  return wanted.spec.cron === undefined && forceOf(wanted) > Math.max(0, ...answered);
}

function forceOf({ metadata }: ArtifactWorkflow): number {
  return unixSeconds(metadata.annotations?.[annotations.orderForceAt]);
}

/** The counter of the credentials is an input of transfers but not of the digest. */
function changeOf(now: EndpointRef | undefined, before: EndpointRef | undefined): string | undefined {
  if (now === undefined) return undefined;
  if (now.digest !== before?.digest) return `Endpoint "${now.name}" changed`;
  if (now.secretGeneration !== before?.secretGeneration)
    return `the credentials of Endpoint "${now.name}" changed`;
  return undefined;
}
