import { ArcError } from '#shared/base/errors';
import type { User } from '../authentication/user/user.ts';
import { qualified } from '../errors/api-errors.ts';

/** The request to decide about, with the field names of a SubjectAccessReview. */
export type Attributes =
  | {
      isResourceRequest: true;
      verb: string;
      group: string;
      version: string;
      resource: string;
      subresource: string;
      namespace: string;
      name: string;
    }
  | { isResourceRequest: false; verb: string; path: string };

/** Decides whether a user may do something. A reason is optional. */
export type Authorizer = (
  user: User,
  attributes: Attributes,
) => Promise<{ allowed: boolean; reason?: string }>;

const openPaths = new Set(['/livez', '/readyz', '/healthz']);

/** True for system:masters and the health paths: they need no authorization and are exempt from the limits in flight. */
export function isAlwaysAllowed(user: User, attributes: Attributes): boolean {
  if (user.groups.includes('system:masters')) return true;
  return !attributes.isResourceRequest && openPaths.has(`/${attributes.path.split('/')[1]}`);
}

/** Resolves with the authorizer's reason; rejects with Forbidden unless the user is allowed. */
export async function mustBeAllowed(
  authorize: Authorizer,
  user: User,
  attributes: Attributes,
): Promise<string> {
  if (isAlwaysAllowed(user, attributes)) return '';
  const decision = await authorize(user, attributes);
  if (!decision.allowed) throw forbidden(user, attributes, decision.reason ?? '');
  return decision.reason ?? '';
}

/** The text of responsewriters.Forbidden of k8s.io/apiserver, which tools parse. */
function forbidden(user: User, attributes: Attributes, reason: string): ArcError {
  const because = reason === '' ? '' : `: ${reason}`;
  const who = `User "${user.name}" cannot ${attributes.verb}`;
  if (!attributes.isResourceRequest) {
    return new ArcError('Forbidden', `forbidden: ${who} path "${attributes.path}"${because}`, {
      details: {},
    });
  }
  const { group, resource, subresource, name, namespace } = attributes;
  const object = `${qualified(resource, group)}${name === '' ? '' : ` "${name}"`}`;
  const what = `resource "${subresource === '' ? resource : `${resource}/${subresource}`}" in API group "${group}"`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  return new ArcError('Forbidden', `${object} is forbidden: ${who} ${what} ${where}${because}`, {
    details: { ...(name && { name }), ...(group && { group }), kind: resource },
  });
}
