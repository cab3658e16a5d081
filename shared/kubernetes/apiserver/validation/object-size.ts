import { ArcError, bytesText } from '#shared/base/errors';
import { largestObjectBytes } from '#shared/base/meta';
import { exceededLimit } from '../codec/json-scan.ts';
import { bodyLimits } from '../codec/parse-body.ts';
import type { KindDefinition, KubeObject } from '../kinds/definition.ts';

const decoder = new TextDecoder();

/** An object and its encoded form. */
export interface Sized {
  object: KubeObject;
  value: Uint8Array;
}

/** Twice the limits of a body: managedFields repeat the names of fields. */
const storedLimits = {
  depth: 2 * bodyLimits.depth,
  values: 2 * bodyLimits.values,
  fields: 2 * bodyLimits.fields,
};
/** A smaller object cannot exceed the limits. */
const minCountedBytes = 64 * 1024;

/**
 * Throws RequestEntityTooLarge for an object that is larger than `largestObjectBytes`, that has too many fields or items after patches, or
 * that leaves no room for its status. Requires room for the status only when the rest of the object grows. Accepts any object that is being
 * deleted, so that its finalizers can be removed.
 */
export function checkSize(definition: KindDefinition, next: Sized, old?: Sized): void {
  const { metadata } = next.object;
  if (metadata.deletionTimestamp !== undefined) return;
  const limit = largestObjectBytes;
  const name = `${definition.plural} "${metadata.name}"`;
  const { statusRoom, sizeAdvice } = definition.hooks ?? {};
  const advice = () =>
    sizeAdvice?.(next.object, withoutStatus(next)) ?? 'Split it into several objects, or shorten it.';
  const bytes = next.value.byteLength;
  if (bytes > limit)
    throw new ArcError(
      'RequestEntityTooLarge',
      `${name} is too large: as stored, with status and managedFields, it takes ${bytesText(bytes)}, ${bytesText(bytes - limit)} more than the limit of ${bytesText(limit)}. ${advice()}`,
    );
  if (hasTooMany(next) && !(old && hasTooMany(old)))
    throw new ArcError(
      'RequestEntityTooLarge',
      `${name} is too large: with managedFields it would have more than ${storedLimits.values} fields and items, or ${storedLimits.fields} in one object. ${advice()}`,
    );
  // Fast path: most objects are far below the limit.
  if (!statusRoom || bytes + statusRoom(next.object) <= limit) return;
  const rest = withoutStatus(next);
  const room = statusRoom(next.object);
  const grows = !old || rest > withoutStatus(old) || room > statusRoom(old.object);
  if (rest + room > limit && grows)
    throw new ArcError(
      'RequestEntityTooLarge',
      `${name} is too large: it takes ${bytesText(rest)} as stored and its status may grow to ${bytesText(room)}, together ${bytesText(rest + room - limit)} more than the limit of ${bytesText(limit)}. ${advice()}`,
    );
}

function hasTooMany({ value }: Sized): boolean {
  return (
    value.byteLength > minCountedBytes && exceededLimit(decoder.decode(value), storedLimits) !== undefined
  );
}

function withoutStatus({ object, value }: Sized): number {
  return (
    value.byteLength - (object.status === undefined ? 0 : Buffer.byteLength(JSON.stringify(object.status)))
  );
}
