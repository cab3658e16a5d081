import { ArcError } from '#shared/base/errors';
import type { User } from '../authentication/user/user.ts';
import { qualified } from '../errors/api-errors.ts';
import type { IncomingRequest } from '../http/connection.ts';
import { type Connection, extraKey, headerNames, headerValues } from '../http/connection.ts';

/** The attributes of an authorization request, with the field names of a SubjectAccessReview. */
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

/** Decides whether a user is allowed to perform a request. */
export type Authorizer = (
  user: User,
  attributes: Attributes,
) => Promise<{ allowed: boolean; reason?: string }>;

const healthPaths = new Set(['/livez', '/readyz', '/healthz']);

/** Tells whether a request needs no authorization and is exempt from limits: system:masters and health checks. */
export function isAlwaysAllowed(user: User, attributes: Attributes): boolean {
  if (user.groups.includes('system:masters')) return true;
  return !attributes.isResourceRequest && healthPaths.has(`/${attributes.path.split('/')[1]}`);
}

/** Resolves with the reason of the authorizer. Rejects with Forbidden if the user is not allowed. */
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

/** The message of responsewriters.Forbidden of k8s.io/apiserver, which tools parse. */
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

const extraPrefix = 'impersonate-extra-';

/** Returns the user in the Impersonate-* headers, if any. Throws BadRequest if Impersonate-User is missing. */
function impersonated(request: IncomingRequest, connection: Connection | undefined): User | undefined {
  const values = (name: string) => headerValues(request, connection, name);
  const [name = ''] = values('impersonate-user');
  const groups = values('impersonate-group');
  const [uid = ''] = values('impersonate-uid');
  const extra = new Map<string, string[]>();
  for (const header of headerNames(request, connection)) {
    if (!header.startsWith(extraPrefix)) continue;
    const key = extraKey(header, extraPrefix);
    extra.set(key, [...(extra.get(key) ?? []), ...values(header)]);
  }
  if (name === '') {
    if (groups.length === 0 && uid === '' && extra.size === 0) return undefined;
    throw new ArcError('BadRequest', 'Impersonate-* headers were sent without Impersonate-User');
  }
  return {
    name,
    groups,
    ...(uid && { uid }),
    ...(extra.size > 0 && { extra: Object.fromEntries(extra) }),
  };
}

/**
 * Resolves with the effective user: the caller, or the user that it impersonates, which requires permission to `impersonate` the user, each
 * group, uid and extra value (k8s.io/apiserver, filters/impersonation.go). Rejects with Forbidden. An aggregator removes these headers.
 */
export async function impersonate(
  authorize: Authorizer,
  user: User,
  request: IncomingRequest,
  connection: Connection | undefined,
): Promise<User> {
  const wanted = impersonated(request, connection);
  if (wanted === undefined) return user;
  for (const attributes of rightsFor(wanted)) await mustBeAllowed(authorize, user, attributes);
  const groups = new Set(wanted.groups);
  const account = serviceAccount(wanted.name);
  if (account && groups.size === 0) {
    groups.add('system:serviceaccounts').add(`system:serviceaccounts:${account.namespace}`);
  }
  groups.add(wanted.name === 'system:anonymous' ? 'system:unauthenticated' : 'system:authenticated');
  return { ...wanted, groups: [...groups] };
}

function rightsFor({ name, groups, uid, extra = {} }: User): Attributes[] {
  const account = serviceAccount(name);
  return [
    account ? right('serviceaccounts', account.name, { namespace: account.namespace }) : right('users', name),
    ...groups.map((group) => right('groups', group)),
    ...(uid === undefined ? [] : [right('uids', uid, { group: 'authentication.k8s.io' })]),
    ...Object.entries(extra).flatMap(([subresource, values]) =>
      values.map((value) => right('userextras', value, { group: 'authentication.k8s.io', subresource })),
    ),
  ];
}

function right(
  resource: string,
  name: string,
  more: { group?: string; namespace?: string; subresource?: string } = {},
): Attributes {
  const where = { group: '', namespace: '', subresource: '', ...more };
  return { isResourceRequest: true, verb: 'impersonate', version: 'v1', resource, name, ...where };
}

function serviceAccount(name: string): { namespace: string; name: string } | undefined {
  const [, namespace, account] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(name) ?? [];
  return namespace !== undefined && account !== undefined ? { namespace, name: account } : undefined;
}
