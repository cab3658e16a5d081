import { ArcError } from '#shared/errors';
import { largestObjectBytes } from '#shared/meta';
import type { KindDefinition, KubeObject } from '../kinds/definition.ts';

/** An object and the bytes it is stored as. */
export interface Sized {
  object: KubeObject;
  bytes: number;
}

/**
 * Refuses an object that no store may hold with RequestEntityTooLarge: larger than `largestObjectBytes`, or so large that the status it
 * may come to would not fit. The room for a status is asked for only when the rest of the object grows, and nothing of an object
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
  if (next.bytes > limit)
    throw new ArcError(
      'RequestEntityTooLarge',
      `${name} is too large: it takes ${next.bytes} bytes as stored, with status and managedFields, and the limit is ${limit}. ${todo()}`,
    );
  // Most objects are far from any limit: their status need not be measured.
  if (!statusRoom || next.bytes + statusRoom(next.object) <= limit) return;
  const rest = withoutStatus(next);
  const room = statusRoom(next.object);
  const grows = !old || rest > withoutStatus(old) || room > statusRoom(old.object);
  if (rest + room > limit && grows)
    throw new ArcError(
      'RequestEntityTooLarge',
      `${name} is too large: it takes ${rest} bytes as stored, its status may come to take ${room} more, and the limit is ${limit}. ${todo()}`,
    );
}

function withoutStatus({ object, bytes }: Sized): number {
  return bytes - (object.status === undefined ? 0 : Buffer.byteLength(JSON.stringify(object.status)));
}
