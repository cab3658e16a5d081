import { ArcError, type Cause, type ErrorDetails, httpStatus } from '#shared/errors';
import type { KindDefinition } from '../kinds/definition.ts';

/** metav1.Status as it goes over the wire. */
export interface Status {
  kind: 'Status';
  apiVersion: 'v1';
  metadata: { continue?: string };
  status: 'Success' | 'Failure';
  message?: string;
  reason?: string;
  details?: ErrorDetails;
  code?: number;
}

/** A failure whose Status carries list metadata: a continue token that goes on without consistency. */
export class ExpiredContinue extends ArcError {
  readonly token: string;

  constructor(message: string, token: string) {
    super('Expired', message);
    this.token = token;
  }
}

/** The Status body of an error. What we did not throw on purpose is reported without its message: it may hold internals. */
export function toStatus(caught: unknown): Status & { code: number } {
  if (!(caught instanceof ArcError)) {
    const message = 'Internal error occurred: the server failed while it handled the request';
    return failure('InternalError', message, { causes: [] }, 500);
  }
  const status = failure(caught.code, caught.message, caught.details, httpStatus(caught.code));
  if (caught instanceof ExpiredContinue) status.metadata = { continue: caught.token };
  return status;
}

function failure(
  reason: string,
  message: string,
  details: ErrorDetails | undefined,
  code: number,
): Status & { code: number } {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' } as const;
  return { ...status, message, reason, ...(details && { details }), code };
}

/** `orders.arc.opendefense.cloud`, or `secrets` in the core group. */
export function qualified(name: string, group: string): string {
  return group === '' ? name : `${name}.${group}`;
}

function about(definition: Pick<KindDefinition, 'group' | 'plural'>, name: string): ErrorDetails {
  return { name, ...(definition.group && { group: definition.group }), kind: definition.plural };
}

export function notFound(definition: Pick<KindDefinition, 'group' | 'plural'>, name: string): ArcError {
  const resource = qualified(definition.plural, definition.group);
  return new ArcError('NotFound', `${resource} "${name}" not found`, { details: about(definition, name) });
}

/** `leaving`: the object that has the name is waiting for its finalizers. */
export function alreadyExists(definition: KindDefinition, name: string, leaving = false): ArcError {
  const resource = qualified(definition.plural, definition.group);
  const details = about(definition, name);
  const message = `${leaving ? 'object is being deleted: ' : ''}${resource} "${name}" already exists`;
  return new ArcError('AlreadyExists', message, { details });
}

/** Somebody else wrote since the caller read. */
export function modified(definition: KindDefinition, name: string): ArcError {
  const resource = qualified(definition.plural, definition.group);
  const message = `Operation cannot be fulfilled on ${resource} "${name}": the object has been modified; please apply your changes to the latest version and try again`;
  return new ArcError('Conflict', message, { details: about(definition, name) });
}

/** A delete's uid or resourceVersion names another object; its details.kind is the Kind, not the resource. */
export function preconditionFailed(
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
  const details = { ...about(definition, name), kind: definition.kind };
  return new ArcError('Conflict', message, { details });
}

/** A PUT names another uid than the object has: in the words of the storage, which clients get to read. */
export function storedOtherwise(
  definition: KindDefinition,
  name: string,
  key: string,
  wanted: string,
  found: string,
): ArcError {
  const why = `Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${found}`;
  const storage = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`;
  const message = `Operation cannot be fulfilled on ${qualified(definition.plural, definition.group)} "${name}": ${storage}`;
  return new ArcError('Conflict', message, { details: about(definition, name) });
}

/** 422 with one line per cause, as field.ErrorList prints them. */
export function invalid(definition: KindDefinition, name: string, causes: Cause[]): ArcError {
  return invalidOf(definition.kind, definition.group, name, causes);
}

/** Causes and characters of a name beyond these help nobody, and a body can make a hundred thousand of them. */
const mostCauses = 101;
const longestName = 300;

/** As `invalid`, for what is no kind of ours (ListOptions, DeleteOptions). */
export function invalidOf(kind: string, group: string, given: string, all: readonly Cause[]): ArcError {
  const causes = all.slice(0, mostCauses);
  const name = given.slice(0, longestName);
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
