import { isDeepStrictEqual } from 'node:util';
import type { Cause } from '#shared/base/errors';
import type { AdmissionRequest } from '../admission/plugin.ts';
import { invalid } from '../errors/api-errors.ts';
import type { KubeObject } from '../kinds/definition.ts';
import { type ResourceRequest, yieldIfLarge } from '../request/api-request.ts';
import { immutableCauses, metadataCauses, metadataWarnings } from '../validation/metadata.ts';
import { validateSchema } from '../validation/validate-schema.ts';

/**
 * Returns the object to store for a create or update. Steps: defaulting, mutating admission, schema validation, the `prepare` hook,
 * `withManagedFields`, the `validate` hook, validating admission. Rejects with Invalid that names every wrong field, or with the error
 * of an admission plug-in.
 */
export async function admitWrite(
  request: ResourceRequest,
  given: KubeObject,
  old: KubeObject | undefined,
  withManagedFields: (object: KubeObject) => KubeObject,
): Promise<KubeObject> {
  const { definition, query, server } = request;
  // A status is validated by its schema only. Content that has become invalid must not block the removal of finalizers during deletion.
  const runsHooks = old?.metadata.deletionTimestamp === undefined && request.info.subresource !== 'status';
  const hooks = runsHooks ? definition.hooks : undefined;
  let checked = defaultAndValidate(request, old ? withCreationTimestamp(given, old) : given, old);
  const operation = old ? 'UPDATE' : 'CREATE';
  const write = { operation, oldObject: old, dryRun: query.has('dryRun') } as const;
  const mutated = await server.admission.mutate(
    admissionRequest(request, { ...write, object: checked.object }),
  );
  if (mutated && mutated !== checked.object) checked = defaultAndValidate(request, mutated, old);
  if (checked.causes.length > 0) throw invalid(definition, given.metadata.name, checked.causes);
  await yieldIfLarge(request);
  const object = withManagedFields(hooks?.prepare ? hooks.prepare(checked.object, old) : checked.object);
  await yieldIfLarge(request);
  const hookCauses = hooks?.validate?.(object, old) ?? [];
  if (hookCauses.length > 0) throw invalid(definition, object.metadata.name, hookCauses);
  await server.admission.validate(admissionRequest(request, { ...write, object }));
  if (!runsHooks) return object;
  await yieldIfLarge(request);
  request.warnings.push(...metadataWarnings(object.metadata, old?.metadata));
  request.warnings.push(...(hooks?.warn?.(object, old) ?? []));
  return object;
}

/** Applies defaults and validates. Returns an object that violates its schema without defaults. */
function defaultAndValidate(
  request: ResourceRequest,
  given: KubeObject,
  old: KubeObject | undefined,
): { object: KubeObject; causes: Cause[] } {
  const { definition, info } = request;
  const isDeleting = old?.metadata.deletionTimestamp !== undefined;
  // An update of /status keeps the stored metadata.
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

/** Restores the stored creationTimestamp. Unlike a changed uid or name, a changed creationTimestamp is ignored. */
function withCreationTimestamp(given: KubeObject, old: KubeObject): KubeObject {
  const { creationTimestamp } = old.metadata;
  if (creationTimestamp === undefined || given.metadata.creationTimestamp === creationTimestamp) return given;
  return { ...given, metadata: { ...given.metadata, creationTimestamp } };
}

/** Returns the errors that the stored object does not have (ratcheting): a tightened rule must not block unrelated updates. */
function newCauses(
  request: ResourceRequest,
  causes: Cause[],
  object: KubeObject,
  old: KubeObject | undefined,
): Cause[] {
  if (causes.length === 0 || !old) return causes;
  const id = (cause: Cause) => `${cause.field} ${cause.reason} ${cause.message}`;
  const known = new Set(validateSchema(request.definition, old).causes.map(id));
  const isUnchanged = (cause: Cause) =>
    known.has(id(cause)) &&
    isDeepStrictEqual(valueAt(object, cause.field ?? ''), valueAt(old, cause.field ?? ''));
  return causes.filter((cause) => !isUnchanged(cause));
}

/** Returns the value at a field path such as `spec.artifacts[0].name`, or undefined. */
function valueAt(object: unknown, field: string): unknown {
  let value = object;
  for (const step of field.match(/[^.[\]]+/g) ?? []) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string, unknown>)[step];
  }
  return value;
}

/** The part of an admission request that differs per object of a request; a deletecollection has many objects. */
interface AdmittedWrite {
  operation: AdmissionRequest['operation'];
  object: KubeObject | undefined;
  oldObject: KubeObject | undefined;
  dryRun: boolean;
  /** Options from the body of a delete. */
  options?: object;
}

const optionKinds = { CREATE: 'CreateOptions', UPDATE: 'UpdateOptions', DELETE: 'DeleteOptions' } as const;

/** Returns the admission request for one write of `request`. */
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
