import { ownerReference } from '#shared/base/meta';
import type { CronWorkflow, Workflow } from '../kinds/argo.ts';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import { annotations } from '../kinds/well-known.ts';

/**
 * True for an Argo object whose ArtifactWorkflow was made after the backup that was restored. `arcctl restore` takes its owner away, so that
 * the garbage collector leaves it alone, and notes the owner's uid on it.
 */
export function hasLostOwner({ metadata }: Workflow | CronWorkflow): boolean {
  const owners = metadata.ownerReferences ?? [];
  return owners.length === 0 && metadata.annotations?.[annotations.lostOwner] !== undefined;
}

/**
 * The merge patch that gives such an object an owner again: the ArtifactWorkflow that was made anew under the name of the lost one, if it is the
 * same version of the artifact. Of another version it is a run of the past: it goes back to its lost owner, and the garbage collector removes it.
 */
export function ownerPatch({ metadata }: Workflow | CronWorkflow, workflow: ArtifactWorkflow) {
  const { [annotations.lostOwner]: lost = '', [annotations.revision]: revision } = metadata.annotations ?? {};
  const reference = ownerReference(workflow);
  const isSame = revision !== undefined && revision === revisionOf(workflow);
  return {
    metadata: {
      annotations: { [annotations.lostOwner]: null },
      ownerReferences: [isSame ? reference : { ...reference, uid: lost }],
    },
  };
}

/** The merge patch that keeps an Argo object from being collected with an owner that is lost; undefined for one that is `known` or has none. */
export function orphanPatch(
  { metadata }: Workflow | CronWorkflow,
  isKnown: (owner: { namespace: string; name: string; uid: string }) => boolean,
) {
  const { namespace = '', ownerReferences = [] } = metadata;
  const owner = ownerReferences.find(({ kind, controller }) => kind === 'ArtifactWorkflow' && controller);
  if (!owner || isKnown({ namespace, name: owner.name, uid: owner.uid })) return undefined;
  return { metadata: { annotations: { [annotations.lostOwner]: owner.uid }, ownerReferences: null } };
}

/** What an Argo object notes of the version that it was made for. */
export function revisionOf({ spec }: ArtifactWorkflow): string {
  return String(spec.revision ?? 0);
}
