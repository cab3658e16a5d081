import { ArcError, bytesText } from '#shared/base/errors';
import { largestObjectBytes } from '#shared/base/meta';
import { exceeded } from '../codec/json-scan.ts';
import { bodyLimits } from '../codec/parse-body.ts';
import type { KindDefinition, KubeObject } from '../kinds/definition.ts';

const decoder = new TextDecoder();

/** An object and its stored form. */
export interface Sized {
  object: KubeObject;
  value: Uint8Array;
}

/** Twice those of a body: managedFields repeat the names of fields. */
const storedLimits = {
  depth: 2 * bodyLimits.depth,
  values: 2 * bodyLimits.values,
  fields: 2 * bodyLimits.fields,
};
/** A smaller one cannot exceed them. */
const leastToCount = 64 * 1024;

/**
 * Refuses an object that no store may hold with RequestEntityTooLarge: larger than `largestObjectBytes`, with more fields or items than a
 * body may have, because patches made it grow, or so large that the status it may come to would not fit. The room for a status is asked for only when the rest of the object grows, and nothing of an object
 * that is being deleted, so that no finalizer is stuck.
 */
export function checkSize(definition: KindDefinition, next: Sized, old?: Sized): void {
  const { metadata } = next.object;
  if (metadata.deletionTimestamp !== undefined) return;
  const limit = largestObjectBytes;
  const name = `${definition.plural} "${metadata.name}"`;
  const { statusRoom, sizeAdvice } = definition.hooks ?? {};
  const todo = () =>
    sizeAdvice?.(next.object, withoutStatus(next)) ??
    'Split it into several objects, or shorten what it says.';
  const bytes = next.value.byteLength;
  if (bytes > limit)
    throw new ArcError(
      'RequestEntityTooLarge',
      `${name} is too large: as stored, with status and managedFields, it takes ${bytesText(bytes)}, ${bytesText(bytes - limit)} more than the limit of ${bytesText(limit)}. ${todo()}`,
    );
  if (hasTooMany(next) && !(old && hasTooMany(old)))
    throw new ArcError(
      'RequestEntityTooLarge',
      `${name} is too large: with managedFields it would have more than ${storedLimits.values} fields and items, or ${storedLimits.fields} in one object. ${todo()}`,
    );
  // Most objects are far from any limit: their status need not be measured.
  if (!statusRoom || bytes + statusRoom(next.object) <= limit) return;
  const rest = withoutStatus(next);
  const room = statusRoom(next.object);
  const grows = !old || rest > withoutStatus(old) || room > statusRoom(old.object);
  if (rest + room > limit && grows)
    throw new ArcError(
      'RequestEntityTooLarge',
      `${name} is too large: it takes ${bytesText(rest)} as stored and its status may come to take ${bytesText(room)} more, together ${bytesText(rest + room - limit)} more than the limit of ${bytesText(limit)}. ${todo()}`,
    );
}

function hasTooMany({ value }: Sized): boolean {
  return value.byteLength > leastToCount && exceeded(decoder.decode(value), storedLimits) !== undefined;
}

function withoutStatus({ object, value }: Sized): number {
  return (
    value.byteLength - (object.status === undefined ? 0 : Buffer.byteLength(JSON.stringify(object.status)))
  );
}
