import { isDeepStrictEqual } from 'node:util';
import type { Cause } from '#shared/errors';
import { invalid } from '../errors/request-errors.ts';
import type { KubeObject } from '../kinds/definition.ts';
import type { ResourceRequest } from '../request/api-request.ts';
import { immutableCauses, metadataCauses, metadataWarnings } from '../validation/metadata.ts';
import { validateSchema } from '../validation/validate-schema.ts';
import { admissionRequest } from './admission-request.ts';

/**
 * Takes a write through the rules of its kind: defaults, the mutating stage of admission, validation, the kind's own
 * preparation and rules, the validating stage. `owned` adds who owns the fields of what would be stored. Returns the object to
 * store; rejects with Invalid naming every field, or with what an admission plug-in says.
 */
export async function admitWrite(
  request: ResourceRequest,
  given: KubeObject,
  old: KubeObject | undefined,
  owned: (object: KubeObject) => KubeObject,
): Promise<KubeObject> {
  const { definition, query, server } = request;
  const { hooks } = definition;
  // An update that only lets an object go must never fail for its content.
  const leaving = old?.metadata.deletionTimestamp !== undefined;
  let checked = check(request, old ? withCreation(given, old) : given, old);
  const operation = old ? 'UPDATE' : 'CREATE';
  const write = { operation, oldObject: old, dryRun: query.has('dryRun') } as const;
  const mutated = await server.admission.mutate(
    admissionRequest(request, { ...write, object: checked.object }),
  );
  if (mutated && mutated !== checked.object) checked = check(request, mutated, old);
  if (checked.faults.length > 0) throw invalid(definition, given.metadata.name, checked.faults);
  const object = owned(hooks?.prepare && !leaving ? hooks.prepare(checked.object, old) : checked.object);
  const own = leaving ? [] : (hooks?.validate?.(object, old) ?? []);
  if (own.length > 0) throw invalid(definition, object.metadata.name, own);
  await server.admission.validate(admissionRequest(request, { ...write, object }));
  if (leaving) return object;
  request.warnings.push(...metadataWarnings(object.metadata, old?.metadata));
  request.warnings.push(...(hooks?.warn?.(object, old) ?? []));
  return object;
}

/** The object with its defaults, as far as it is sound enough for them, and what is wrong with it. */
function check(
  request: ResourceRequest,
  given: KubeObject,
  old: KubeObject | undefined,
): { object: KubeObject; faults: Cause[] } {
  const { definition } = request;
  const leaving = old?.metadata.deletionTimestamp !== undefined;
  const { object, causes } = validateSchema(definition, given);
  const faults = [
    ...metadataCauses(definition, given.metadata),
    ...(old ? immutableCauses(given.metadata, old.metadata) : []),
    ...(leaving ? [] : newCauses(request, causes, given, old)),
  ];
  return { object: causes.length === 0 ? object : given, faults };
}

/** When an object was created cannot be changed; to say something else is no fault, as it is with uid or name. */
function withCreation(given: KubeObject, old: KubeObject): KubeObject {
  const { creationTimestamp } = old.metadata;
  if (creationTimestamp === undefined || given.metadata.creationTimestamp === creationTimestamp) return given;
  return { ...given, metadata: { ...given.metadata, creationTimestamp } };
}

/** A rule that was tightened since must not block updates that leave the old value alone. */
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

/** What a field path such as `spec.artifacts[0].name` leads to; undefined where it leads nowhere. */
function valueAt(object: unknown, field: string): unknown {
  let value = object;
  for (const step of field.match(/[^.[\]]+/g) ?? []) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string, unknown>)[step];
  }
  return value;
}
