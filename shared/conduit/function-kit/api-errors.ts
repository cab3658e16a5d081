import { ArcError } from '#shared/base/errors';
import { giveNamespace, type Hold } from '#shared/domain';

const refusals = ['Invalid', 'Forbidden', 'BadRequest', 'NotFound', 'RequestEntityTooLarge'] as const;

/**
 * True when the API server refuses a write until a person changes something (a quota, a policy, a terminating namespace).
 * Functions report the refusal and end; the step is retried with backoff.
 */
export function isRefusal(caught: unknown): caught is ArcError {
  return ArcError.is(caught, ...refusals);
}

/** True when a quota of the namespace is exceeded. Kubernetes has no reason for quotas: its clients match this text. */
export function isOverQuota(caught: unknown): boolean {
  return ArcError.is(caught, 'Forbidden') && caught.message.includes('exceeded quota:');
}

/**
 * Returns the hold of a function that lacks a right in the object's namespace, for the person who gives namespaces to ARC. Undefined for
 * every other error, also of an admission policy or a quota.
 */
export function missingRight(
  caught: unknown,
  { metadata: { namespace = '' } }: { metadata: { namespace?: string } },
): Hold | undefined {
  // Kubernetes: <resource> is forbidden: User "…" cannot <verb> resource "…" (apiserver, pkg/endpoints/handlers/responsewriters).
  if (!ArcError.is(caught, 'Forbidden') || !/ cannot \w+ resource /.test(caught.message)) return undefined;
  const schedules = caught.message.includes('resource "cronworkflows"')
    ? ', unless schedules are switched off'
    : '';
  const message = `ARC has no right to work in namespace "${namespace}": give it with ${giveNamespace(namespace)}${schedules} (${caught.message})`;
  return { reason: 'NamespaceNotGiven', message };
}

/** Resolves with the result of a write, or undefined when the object is gone (or its kind is not installed). Other failures reject. */
export async function ignoreNotFound<T>(write: Promise<T>): Promise<T | undefined> {
  try {
    return await write;
  } catch (caught) {
    if (ArcError.is(caught, 'NotFound')) return undefined;
    throw caught;
  }
}

/** Resolves with the object, or undefined if it is absent or may not be read: the namespace may not have been given to ARC. */
export async function ignoreForbidden<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (caught) {
    if (ArcError.is(caught, 'Forbidden')) return undefined;
    throw caught;
  }
}
