import { ArcError } from '#shared/errors';

/**
 * That there is no such object. A 404 that names no object means that the server does not know the kind (not installed, not
 * registered yet), which is not the same.
 */
export function isGone(caught: unknown): boolean {
  return ArcError.is(caught, 'NotFound') && caught.details?.name !== undefined;
}
