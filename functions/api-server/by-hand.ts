import { isRecord } from '#shared/base/meta';
import {
  type ArtifactType,
  completedByHand,
  type Endpoint,
  group,
  invalidObject,
  policyTypes,
  type Settings,
  type ShortForm,
} from '#shared/domain';
import type { AdmissionPlugin, KubeObject, StoredObjects } from '#shared/kubernetes/apiserver';

/**
 * Completes an ArtifactWorkflow that is made by hand from type, srcRef, dstRef and artifact alone: template, parameters, Secrets and policy come
 * from its type and Endpoints. Whoever makes it needs the right to get the Secrets, which is judged on the complete object. Rejects with
 * Invalid where it cannot be completed.
 */
export function byHand(stored: StoredObjects, settings: () => Settings): AdmissionPlugin {
  return {
    name: 'ByHand',
    handles: ({ operation, kind, subResource }) =>
      operation === 'CREATE' &&
      kind.group === group &&
      kind.kind === 'ArtifactWorkflow' &&
      subResource === '',
    async mutate({ kind, namespace, name, object }) {
      if (object === undefined || !isShort(object)) return undefined;
      const { type, srcRef, dstRef } = object.spec;
      const endpoints = await endpointsNamed(stored, namespace, [srcRef.name, dstRef.name]);
      const known = settings();
      const names = new Set(
        [type, ...policyTypes(namespace, endpoints, known)].filter((each) => each !== ''),
      );
      const types = await Promise.all([...names].map((each) => typesNamed(stored, namespace, each)));
      const found = completedByHand(object, { endpoints, types: types.flat() }, known);
      if ('workflow' in found) return found.workflow;
      const { reason, message } = found.hold;
      const field = reason === 'TypeMissing' ? 'spec.type' : 'spec';
      throw invalidObject(kind.kind, name, [{ reason: 'FieldValueInvalid', field, message }]);
    },
  };
}

/** True for the short form. It has not been validated yet. */
function isShort<T extends KubeObject>(object: T): object is T & { spec: ShortForm } {
  const { spec } = object;
  if (!isRecord(spec) || spec.workflowTemplateRef !== undefined || typeof spec.type !== 'string')
    return false;
  const named = (ref: unknown) => isRecord(ref) && typeof ref.name === 'string';
  const { artifact = {}, cron } = spec;
  const free = isRecord(artifact) && (artifact.spec === undefined || isRecord(artifact.spec));
  return named(spec.srcRef) && named(spec.dstRef) && free && (cron === undefined || isRecord(cron));
}

async function endpointsNamed(
  stored: StoredObjects,
  namespace: string,
  names: string[],
): Promise<Endpoint[]> {
  const found = await Promise.all(
    [...new Set(names)].map((name) => stored.get(group, 'endpoints', namespace, name)),
  );
  // What is stored has been validated by the schema of its kind.
  return found.filter((one) => one !== undefined) as Endpoint[];
}

async function typesNamed(stored: StoredObjects, namespace: string, name: string): Promise<ArtifactType[]> {
  const found = await Promise.all([
    stored.get(group, 'artifacttypes', namespace, name),
    stored.get(group, 'clusterartifacttypes', '', name),
  ]);
  return found.filter((one) => one !== undefined) as ArtifactType[];
}
