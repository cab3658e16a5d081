import { ArcError, type Cause, type ErrorDetails } from '#shared/base/errors';
import type { KindDefinition } from '../kinds/definition.ts';
import { qualified } from './resource-errors.ts';

/** 422 with one line per cause, as field.ErrorList prints them. */
export function invalid(definition: KindDefinition, name: string, causes: Cause[]): ArcError {
  return invalidOf(definition.kind, definition.group, name, causes);
}

/** Bounds of a message: one body can cause a hundred thousand errors. */
const maxCauses = 101;
const maxNameLength = 300;

/** As `invalid`, for types that are not served (ListOptions, DeleteOptions). */
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
