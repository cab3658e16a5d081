import type { Cause } from '#shared/base/errors';
import {
  type ArtifactWorkflow,
  artifactWorkflowLimitCauses,
  type Endpoint,
  endpointLimitCauses,
  featureCauses,
  group,
  invalidObject,
  type Order,
  orderLimitCauses,
  type Settings,
} from '#shared/domain';
import type { AdmissionPlugin, KubeObject, StoredObjects } from '#shared/kubernetes/apiserver';

/** Most problems of one object that are named. */
const mostCauses = 20;

/**
 * Holds objects to the operator's limits, and refuses the fields of what is switched off, but not what an update leaves alone. Rejects
 * with Invalid naming field and setting.
 */
export function operatorLimits(stored: StoredObjects, settings: () => Settings): AdmissionPlugin {
  return {
    name: 'OperatorLimits',
    handles: ({ kind, subResource }) => kind.group === group && subResource === '',
    async validate({ kind, namespace, name, object, oldObject }) {
      if (object === undefined || object.metadata.deletionTimestamp !== undefined) return;
      const present = settings();
      const causes = [
        ...featureCauses(object, oldObject, present),
        ...(kind.kind === 'ArtifactWorkflow'
          ? await workflowCauses(stored, namespace, object as ArtifactWorkflow, oldObject, present)
          : causesOf(kind.kind, object, oldObject, present)),
      ];
      if (causes.length > 0) throw invalidObject(kind.kind, name, causes.slice(0, mostCauses));
    },
  };
}

/** Its Endpoints are read only where they decide. */
async function workflowCauses(
  stored: StoredObjects,
  namespace: string,
  workflow: ArtifactWorkflow,
  old: KubeObject | undefined,
  settings: Settings,
): Promise<Cause[]> {
  const before = old as ArtifactWorkflow | undefined;
  const causes = artifactWorkflowLimitCauses(workflow, before, settings);
  const { srcRef, dstRef } = workflow.spec;
  const refs = [srcRef, dstRef].filter((ref) => ref !== undefined);
  if (causes.length === 0 || refs.length === 0) return causes;
  const found = await Promise.all(refs.map((ref) => stored.get(group, 'endpoints', namespace, ref.name)));
  const endpoints = found.filter((one) => one !== undefined) as Endpoint[];
  return artifactWorkflowLimitCauses(workflow, before, settings, endpoints);
}

// Validated before, by the schema of the kind.
function causesOf(
  kind: string,
  object: KubeObject,
  old: KubeObject | undefined,
  settings: Settings,
): Cause[] {
  switch (kind) {
    case 'Order':
      return orderLimitCauses(object as Order, old as Order | undefined, settings);
    case 'Endpoint':
      return endpointLimitCauses(object as Endpoint, old as Endpoint | undefined, settings);
    default:
      return [];
  }
}
