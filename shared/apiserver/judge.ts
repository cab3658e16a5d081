import type { Cause } from '#shared/errors';
import type { Call } from './call.ts';
import type { KubeObject } from './definition.ts';
import { immutableCauses, metadataCauses, metadataWarnings } from './metadata.ts';
import { validateSchema } from './representation/index.ts';
import { invalid } from './status.ts';

/**
 * Takes a write through the rules of its kind: defaults, the kind's own preparation, admission, validation. `owned` adds
 * who owns its fields, behind the defaults and before admission. Returns the object to store; rejects with Invalid naming every field, or with what an admission plugin says.
 */
export async function judge(
  call: Call,
  given: KubeObject,
  old: KubeObject | undefined,
  owned: (object: KubeObject) => KubeObject,
): Promise<KubeObject> {
  const { definition, server, target, user } = call;
  const { hooks } = definition;
  if (old) given = withCreation(given, old);
  // An update that only lets an object go must never fail for its content.
  const leaving = old?.metadata.deletionTimestamp !== undefined;
  const metadataFaults = [
    ...metadataCauses(definition, given.metadata),
    ...(old ? immutableCauses(given.metadata, old.metadata) : []),
  ];
  const { object: defaulted, causes } = validateSchema(definition, given);
  const faults = [...metadataFaults, ...(leaving ? [] : newCauses(call, causes, old))];
  if (faults.length > 0) throw invalid(definition, given.metadata.name, faults);
  const sound = causes.length === 0 ? defaulted : given;
  const object = owned(hooks?.prepare && !leaving ? hooks.prepare(sound, old) : sound);
  const operation = old ? 'UPDATE' : 'CREATE';
  for (const plugin of server.admission) {
    const dryRun = call.query.has('dryRun');
    await plugin.admit({ operation, user, definition, subresource: target.subresource, object, old, dryRun });
  }
  if (leaving) return object;
  const own = hooks?.validate?.(object, old) ?? [];
  if (own.length > 0) throw invalid(definition, object.metadata.name, own);
  call.warnings.push(...metadataWarnings(object.metadata, old?.metadata));
  call.warnings.push(...(hooks?.warn?.(object, old) ?? []));
  return object;
}

/** When an object was created cannot be changed; to say something else is no fault, as it is with uid or name. */
function withCreation(given: KubeObject, old: KubeObject): KubeObject {
  const { creationTimestamp } = old.metadata;
  if (creationTimestamp === undefined || given.metadata.creationTimestamp === creationTimestamp) return given;
  return { ...given, metadata: { ...given.metadata, creationTimestamp } };
}

/** A rule that was tightened since must not block updates that leave the old value alone. */
function newCauses(call: Call, causes: Cause[], old: KubeObject | undefined): Cause[] {
  if (causes.length === 0 || !old) return causes;
  const id = (cause: Cause) => `${cause.field} ${cause.reason} ${cause.message}`;
  const known = new Set(validateSchema(call.definition, old).causes.map(id));
  return causes.filter((cause) => !known.has(id(cause)));
}
