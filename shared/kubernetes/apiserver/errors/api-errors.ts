import { ArcError, type Cause, type ErrorDetails } from '#shared/base/errors';
import type { KindDefinition } from '../kinds/definition.ts';

/** Returns the qualified name, such as `orders.arc.opendefense.cloud`, or `secrets` for the core group. */
export function qualified(name: string, group: string): string {
  return group === '' ? name : `${name}.${group}`;
}

function detailsOf(definition: Pick<KindDefinition, 'group' | 'plural'>, name: string): ErrorDetails {
  return { name, ...(definition.group && { group: definition.group }), kind: definition.plural };
}

export function notFound(definition: Pick<KindDefinition, 'group' | 'plural'>, name: string): ArcError {
  const resource = qualified(definition.plural, definition.group);
  return new ArcError('NotFound', `${resource} "${name}" not found`, {
    details: detailsOf(definition, name),
  });
}

/** @param isDeleting whether the existing object is being deleted */
export function alreadyExists(definition: KindDefinition, name: string, isDeleting = false): ArcError {
  const resource = qualified(definition.plural, definition.group);
  const details = detailsOf(definition, name);
  const message = `${isDeleting ? 'object is being deleted: ' : ''}${resource} "${name}" already exists`;
  return new ArcError('AlreadyExists', message, { details });
}

/** The error of an update with an outdated resourceVersion. */
export function conflict(definition: KindDefinition, name: string): ArcError {
  const resource = qualified(definition.plural, definition.group);
  const message = `Operation cannot be fulfilled on ${resource} "${name}": the object has been modified; please apply your changes to the latest version and try again`;
  return new ArcError('Conflict', message, { details: detailsOf(definition, name) });
}

/** The error of a failed precondition of a delete. As in Kubernetes, details.kind is the kind here, not the resource. */
export function deletePreconditionFailed(
  definition: KindDefinition,
  name: string,
  field: 'UID' | 'ResourceVersion',
  wanted: string,
  found: string,
): ArcError {
  const why =
    field === 'UID'
      ? 'The object might have been deleted and then recreated'
      : 'The object might have been modified';
  const [here, there] =
    field === 'UID'
      ? ['the UID', 'the UID in record']
      : ['the ResourceVersion', 'the ResourceVersion in record'];
  const message = `Operation cannot be fulfilled on ${qualified(definition.kind, definition.group)} "${name}": ${here} in the precondition (${wanted}) does not match ${there} (${found}). ${why}`;
  const details = { ...detailsOf(definition, name), kind: definition.kind };
  return new ArcError('Conflict', message, { details });
}

/** The error of a PUT with a wrong uid, in the words of the Kubernetes storage layer, which clients see. */
export function uidPreconditionFailed(
  definition: KindDefinition,
  name: string,
  key: string,
  wanted: string,
  found: string,
): ArcError {
  const why = `Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${found}`;
  const storage = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`;
  const message = `Operation cannot be fulfilled on ${qualified(definition.plural, definition.group)} "${name}": ${storage}`;
  return new ArcError('Conflict', message, { details: detailsOf(definition, name) });
}

/** The 422 of an invalid object, with one line per cause in the format of field.ErrorList. */
export function invalid(definition: KindDefinition, name: string, causes: Cause[]): ArcError {
  return invalidOf(definition.kind, definition.group, name, causes);
}

/** Limits the length of a message: one body can cause a hundred thousand errors. */
const maxCauses = 101;
const maxNameLength = 300;

/** Like `invalid`, for types that are not resources (ListOptions, DeleteOptions). */
export function invalidOf(kind: string, group: string, given: string, all: readonly Cause[]): ArcError {
  const causes = all.slice(0, maxCauses);
  const name = given.slice(0, maxNameLength);
  const lines = [
    ...new Set(causes.map((cause) => `${cause.field ? `${cause.field}: ` : ''}${cause.message}`)),
  ];
  const text = lines.length === 1 ? lines[0] : `[${lines.join(', ')}]`;
  const message = `${qualified(kind, group)} "${name}" is invalid: ${text}`;
  const details: ErrorDetails = {
    ...(name && { name }),
    ...(group && { group }),
    ...(kind && { kind }),
    causes,
  };
  return new ArcError('Invalid', message, { details });
}

export function badRequest(message: string): ArcError {
  return new ArcError('BadRequest', message);
}

export function unsupportedMediaType(accepted: string[]): ArcError {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`;
  return new ArcError('UnsupportedMediaType', message);
}
