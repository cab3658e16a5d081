import type { IncomingRequest } from '../request/incoming-request.ts';
import type { Connection } from './connection.ts';

/** A user, with the field names of a SubjectAccessReview. */
export interface User {
  name: string;
  groups: readonly string[];
  uid?: string;
  extra?: Readonly<Record<string, readonly string[]>>;
}

/**
 * Resolves a credential to a user; undefined means that there is none. Rejects with Unauthorized for an invalid one.
 * `connection` is undefined unless the request came over a socket.
 */
export type Authenticator = (
  request: IncomingRequest,
  connection: Connection | undefined,
) => Promise<User | undefined>;

const anonymous: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] };

/** The user of a request: system:anonymous without a credential, else also a member of system:authenticated. */
export async function authenticateRequest(
  authenticate: Authenticator,
  request: IncomingRequest,
  connection: Connection | undefined,
): Promise<User> {
  const user = await authenticate(request, connection);
  if (!user) return anonymous;
  connection?.markAuthenticated();
  // A front proxy also passes on anonymous requests.
  if (user.name === anonymous.name || user.groups.includes('system:unauthenticated')) return user;
  const groups = new Set([...user.groups, 'system:authenticated']);
  return { ...user, groups: [...groups] };
}
