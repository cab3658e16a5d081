import { ArcError } from '#shared/errors';

const refusals = ['Invalid', 'Forbidden', 'BadRequest', 'NotFound', 'RequestEntityTooLarge'] as const;

/**
 * True when the API server refuses a write until a person changes something (a quota, a policy, a namespace that is being deleted).
 * Functions report it and end; the resync tries again.
 */
export function isRefusal(caught: unknown): caught is ArcError {
  return ArcError.is(caught, ...refusals);
}

/** The result of a write, or undefined when the object is gone (or its kind is not installed). Other failures reject. */
export async function ignoreNotFound<T>(write: Promise<T>): Promise<T | undefined> {
  try {
    return await write;
  } catch (caught) {
    if (ArcError.is(caught, 'NotFound')) return undefined;
    throw caught;
  }
}
