import { ArcError } from '#shared/base/errors';

/**
 * True when the object does not exist. A 404 that names no object is different: the server does not know the kind (not installed,
 * or not registered yet).
 */
export function isGone(caught: unknown): boolean {
  return ArcError.is(caught, 'NotFound') && caught.details?.name !== undefined;
}
