import { isDeepStrictEqual } from 'node:util';
import type { Cause } from '#shared/base/errors';
import type { AdmissionRequest } from '../admission/plugin.ts';
import { invalid } from '../errors/api-errors.ts';
import type { KubeObject } from '../kinds/definition.ts';
import { betweenSteps, type ResourceRequest } from '../request/api-request.ts';
import { immutableCauses, metadataCauses, metadataWarnings } from '../validation/metadata.ts';
import { validateSchema } from '../validation/validate-schema.ts';

/**
 * Admits a create or update: defaults, mutating admission, validation, the kind's own preparation and rules, validating
 * admission. `withManagedFields` adds managedFields before the last two steps. Returns the object to store; rejects with Invalid
 * that names every wrong field, or with the error of an admission plug-in.
 */
export async function admitWrite(
  request: ResourceRequest,
  given: KubeObject,
  old: KubeObject | undefined,
  withManagedFields: (object: KubeObject) => KubeObject,
): Promise<KubeObject> {
  const { definition, query, server } = request;
  // A status is judged by its schema. While an object is being deleted, its content must not block the updates that remove finalizers.
  const isJudged = old?.metadata.deletionTimestamp === undefined && request.info.subresource !== 'status';
  const hooks = isJudged ? definition.hooks : undefined;
  let checked = defaultAndValidate(request, old ? withCreationTimestamp(given, old) : given, old);
  const operation = old ? 'UPDATE' : 'CREATE';
  const write = { operation, oldObject: old, dryRun: query.has('dryRun') } as const;
  const mutated = await server.admission.mutate(
    admissionRequest(request, { ...write, object: checked.object }),
  );
  if (mutated && mutated !== checked.object) checked = defaultAndValidate(request, mutated, old);
  if (checked.causes.length > 0) throw invalid(definition, given.metadata.name, checked.causes);
  await betweenSteps(request);
  const object = withManagedFields(hooks?.prepare ? hooks.prepare(checked.object, old) : checked.object);
  await betweenSteps(request);
  const ownCauses = hooks?.validate?.(object, old) ?? [];
  if (ownCauses.length > 0) throw invalid(definition, object.metadata.name, ownCauses);
  await server.admission.validate(admissionRequest(request, { ...write, object }));
  if (!isJudged) return object;
  await betweenSteps(request);
  request.warnings.push(...metadataWarnings(object.metadata, old?.metadata));
  request.warnings.push(...(hooks?.warn?.(object, old) ?? []));
  return object;
}

/** Adds defaults and validates. An object that does not fit its schema is returned without defaults. */
function defaultAndValidate(
  request: ResourceRequest,
  given: KubeObject,
  old: KubeObject | undefined,
): { object: KubeObject; causes: Cause[] } {
  const { definition, info } = request;
  const isDeleting = old?.metadata.deletionTimestamp !== undefined;
  // What is sent to /status has the metadata that is stored.
  const isStatus = old !== undefined && info.subresource === 'status';
  const known = isStatus ? { ...old, metadata: given.metadata } : old;
  const { object, causes: schemaCauses } = validateSchema(definition, given, known);
  const causes = [
    ...(isStatus ? [] : metadataCauses(definition, given.metadata, old?.metadata)),
    ...(isStatus || !old ? [] : immutableCauses(given.metadata, old.metadata)),
    ...(isDeleting ? [] : newCauses(request, schemaCauses, given, old)),
  ];
  return { object: schemaCauses.length === 0 ? object : given, causes };
}

/** creationTimestamp keeps its value: another one is ignored, while another uid or name is an error. */
function withCreationTimestamp(given: KubeObject, old: KubeObject): KubeObject {
  const { creationTimestamp } = old.metadata;
  if (creationTimestamp === undefined || given.metadata.creationTimestamp === creationTimestamp) return given;
  return { ...given, metadata: { ...given.metadata, creationTimestamp } };
}

/** Leaves out errors that the stored object has as well: a rule that was tightened must not block unrelated updates. */
function newCauses(
  request: ResourceRequest,
  causes: Cause[],
  object: KubeObject,
  old: KubeObject | undefined,
): Cause[] {
  if (causes.length === 0 || !old) return causes;
  const id = (cause: Cause) => `${cause.field} ${cause.reason} ${cause.message}`;
  const known = new Set(validateSchema(request.definition, old).causes.map(id));
  const isOld = (cause: Cause) =>
    known.has(id(cause)) &&
    isDeepStrictEqual(valueAt(object, cause.field ?? ''), valueAt(old, cause.field ?? ''));
  return causes.filter((cause) => !isOld(cause));
}

/** The value at a field path such as `spec.artifacts[0].name`, or undefined. */
function valueAt(object: unknown, field: string): unknown {
  let value = object;
  for (const step of field.match(/[^.[\]]+/g) ?? []) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string, unknown>)[step];
  }
  return value;
}

/** The part of an admission request that depends on the object written: a deletecollection has many. */
interface AdmittedWrite {
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
