import type { Connection } from './connection.ts';

/** Who is asking, as SubjectAccessReview names them. */
export interface User {
  name: string;
  groups: readonly string[];
  uid?: string;
  extra?: Readonly<Record<string, readonly string[]>>;
}

/**
 * Resolves a credential to a user; undefined means none was presented. Rejects with Unauthorized for a bad one.
 * `connection` is there when the request came over a socket.
 */
export type Authenticator = (
  request: Request,
  connection: Connection | undefined,
) => Promise<User | undefined>;

const anonymous: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] };

/** Who asks: nobody's credential is system:anonymous, everybody else's is also in system:authenticated. */
export async function authenticateRequest(
  authenticate: Authenticator,
  request: Request,
  connection: Connection | undefined,
): Promise<User> {
  const user = await authenticate(request, connection);
  if (!user) return anonymous;
  connection?.markAuthenticated();
  // A front proxy passes on its anonymous callers too.
  if (user.name === anonymous.name || user.groups.includes('system:unauthenticated')) return user;
  const groups = new Set([...user.groups, 'system:authenticated']);
  return { ...user, groups: [...groups] };
}
