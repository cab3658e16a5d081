import type { AdmissionRequest } from '../admission/plugin.ts';
import type { KubeObject } from '../kinds/definition.ts';
import type { ResourceRequest } from '../request/api-request.ts';

/** The part of an admission request that depends on the object written: a deletecollection has many. */
export interface AdmittedWrite {
  operation: AdmissionRequest['operation'];
  object: KubeObject | undefined;
  oldObject: KubeObject | undefined;
  dryRun: boolean;
  /** Options that are not query parameters. */
  options?: object;
}

const optionKinds = { CREATE: 'CreateOptions', UPDATE: 'UpdateOptions', DELETE: 'DeleteOptions' } as const;

/** A write of this call as admission plug-ins see it. */
export function admissionRequest(request: ResourceRequest, write: AdmittedWrite): AdmissionRequest {
  const { definition, namespace, query, info, user } = request;
  const { group, version, kind, plural } = definition;
  const { operation, object, oldObject, dryRun } = write;
  const fieldManager = query.get('fieldManager');
  const fieldValidation = query.get('fieldValidation');
  return {
    operation,
    kind: { group, version, kind },
    resource: { group, version, resource: plural },
    subResource: info.subresource,
    namespace,
    name: (object ?? oldObject)?.metadata.name ?? '',
    user,
    object,
    oldObject,
    dryRun,
    options: {
      apiVersion: 'meta.k8s.io/v1',
      kind: optionKinds[operation],
      ...(dryRun && { dryRun: ['All'] }),
      ...(fieldManager && { fieldManager }),
      ...(fieldValidation && { fieldValidation }),
      ...write.options,
    },
    warn: (text) => request.warnings.push(text),
  };
}
