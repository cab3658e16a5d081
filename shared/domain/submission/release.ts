import type { CronWorkflow, Workflow } from '../kinds/argo.ts';
import { annotations } from '../kinds/well-known.ts';

/**
 * An Argo object is created suspended and released when its ArtifactWorkflow, read again after that, is as it was. One whose creation
 * arrives late, after that ArtifactWorkflow was stopped or is gone, therefore never runs: nobody releases it, and the garbage collector
 * takes it away. Argo starts no pod of a suspended Workflow and no run of a suspended CronWorkflow.
 */
export function unreleased<T extends Workflow | CronWorkflow>(object: T): T {
  const marks = { ...object.metadata.annotations, [annotations.unreleased]: 'true' };
  return {
    ...object,
    metadata: { ...object.metadata, annotations: marks },
    spec: { ...object.spec, suspend: true },
  };
}

/** True until it is released. A suspension without our mark is a person's: it is left alone. */
export function isUnreleased({ metadata, spec }: Workflow | CronWorkflow): boolean {
  return spec.suspend === true && metadata.annotations?.[annotations.unreleased] !== undefined;
}

/**
 * The merge patch that lets the object run; a schedule may stay suspended. It needs no resourceVersion, because Argo writes a status at any
 * time: who removes an unreleased Workflow has to guard that with the resourceVersion instead.
 */
export function releasePatch(suspend: boolean) {
  return {
    metadata: { annotations: { [annotations.unreleased]: null } },
    spec: { suspend: suspend || null },
  };
}
