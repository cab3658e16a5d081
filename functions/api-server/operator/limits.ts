import type { AdmissionPlugin, KubeObject } from '#shared/apiserver';
import {
  type ArtifactWorkflow,
  artifactWorkflowLimitCauses,
  type Endpoint,
  endpointLimitCauses,
  featureCauses,
  group,
  type Order,
  orderLimitCauses,
  type Settings,
} from '#shared/domain';
import type { Cause } from '#shared/errors';
import { invalidObject } from '../invalid-object.ts';

/** Most problems of one object that are named. */
const mostCauses = 20;

/**
 * Holds objects to the operator's limits, and refuses the fields of what is switched off, but not what an update leaves alone. Rejects
 * with Invalid naming field and setting.
 */
export function operatorLimits(settings: () => Settings): AdmissionPlugin {
  return {
    name: 'OperatorLimits',
    async validate({ kind, subResource, name, object, oldObject }) {
      if (kind.group !== group || subResource !== '' || object === undefined) return;
      if (object.metadata.deletionTimestamp !== undefined) return;
      const present = settings();
      const causes = [
        ...featureCauses(object, oldObject, present),
        ...causesOf(kind.kind, object, oldObject, present),
      ];
      if (causes.length > 0) throw invalidObject(kind.kind, name, causes.slice(0, mostCauses));
    },
  };
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
    case 'ArtifactWorkflow':
      return artifactWorkflowLimitCauses(
        object as ArtifactWorkflow,
        old as ArtifactWorkflow | undefined,
        settings,
      );
    case 'Endpoint':
      return endpointLimitCauses(object as Endpoint, old as Endpoint | undefined, settings);
    default:
      return [];
  }
}
