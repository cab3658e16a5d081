import type { CronWorkflow, Workflow } from '../kinds/argo.ts';
import { annotations } from '../kinds/well-known.ts';

/**
 * Returns an Argo object in suspended form. It is released when its ArtifactWorkflow, read again after the creation, is unchanged. A creation
 * that arrives late, after its ArtifactWorkflow was stopped or deleted, therefore never runs: nobody releases the object, and the garbage
 * collector removes it. Argo starts no pod of a suspended Workflow and no run of a suspended CronWorkflow.
 */
export function unreleased<T extends Workflow | CronWorkflow>(object: T): T {
  const marks = { ...object.metadata.annotations, [annotations.unreleased]: 'true' };
  return {
    ...object,
    metadata: { ...object.metadata, annotations: marks },
    spec: { ...object.spec, suspend: true },
  };
}

/** True until the object is released. A suspension without our annotation was made by a person and is left alone. */
export function isUnreleased({ metadata, spec }: Workflow | CronWorkflow): boolean {
  return spec.suspend === true && metadata.annotations?.[annotations.unreleased] !== undefined;
}

/**
 * Returns the merge patch that releases the object; a schedule may stay suspended. Without resourceVersion, because Argo writes a status at any
 * time: the removal of an unreleased Workflow is guarded by resourceVersion instead.
 */
export function releasePatch(suspend: boolean) {
  return {
    metadata: { annotations: { [annotations.unreleased]: null } },
    spec: { suspend: suspend || null },
  };
}
