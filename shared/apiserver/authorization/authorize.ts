import { ArcError } from '#shared/errors';
import type { Connection } from '../authentication/connection.ts';
import { qualified } from '../errors/status.ts';
import type { Attributes, Authenticator, Authorizer, User } from '../kinds/definition.ts';

const anonymous: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] };
const openPaths = new Set(['/livez', '/readyz', '/healthz']);

/** Who asks: nobody's credential is system:anonymous, everybody else's is also in system:authenticated. */
export async function identify(
  authenticate: Authenticator,
  request: Request,
  connection: Connection | undefined,
): Promise<User> {
  const user = await authenticate(request, connection);
  if (!user) return anonymous;
  connection?.known();
  // A front proxy passes on its anonymous callers too.
  if (user.name === anonymous.name || user.groups.includes('system:unauthenticated')) return user;
  const groups = new Set([...user.groups, 'system:authenticated']);
  return { ...user, groups: [...groups] };
}

/** system:masters and the health paths always may, and are never told to come back later. */
export function isNeverRefused(user: User, attributes: Attributes): boolean {
  if (user.groups.includes('system:masters')) return true;
  return !attributes.resource && openPaths.has(`/${attributes.path.split('/')[1]}`);
}

/** Resolves with the authorizer's reason; rejects with Forbidden unless the user may. */
export async function mustBeAllowed(
  authorize: Authorizer,
  user: User,
  attributes: Attributes,
): Promise<string> {
  if (isNeverRefused(user, attributes)) return '';
  const decision = await authorize(user, attributes);
  if (!decision.allowed) throw forbidden(user, attributes, decision.reason ?? '');
  return decision.reason ?? '';
}

/** The text of apiserver's responsewriters.Forbidden: tools and people read it. */
function forbidden(user: User, attributes: Attributes, reason: string): ArcError {
  const because = reason === '' ? '' : `: ${reason}`;
  const who = `User "${user.name}" cannot ${attributes.verb}`;
  if (!attributes.resource) {
    return new ArcError('Forbidden', `forbidden: ${who} path "${attributes.path}"${because}`, {
      details: {},
    });
  }
  const { group, plural, subresource, name, namespace } = attributes;
  const object = `${qualified(plural, group)}${name === '' ? '' : ` "${name}"`}`;
  const what = `resource "${subresource === '' ? plural : `${plural}/${subresource}`}" in API group "${group}"`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  return new ArcError('Forbidden', `${object} is forbidden: ${who} ${what} ${where}${because}`, {
    details: { ...(name && { name }), ...(group && { group }), kind: plural },
  });
}
