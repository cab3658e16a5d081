import type { X509Certificate } from 'node:crypto';
import { ArcError } from '#shared/base/errors';
import type { IncomingRequest } from '../http/connection.ts';
import { type Connection, headerValues } from '../http/connection.ts';
import { chainsTo, subjectValues } from './chain.ts';
import type { AuthenticationConfig } from './config.ts';
import { isAllowedName, remoteUser } from './front-proxy.ts';
import type { ReviewToken } from './token-review.ts';
import { anonymous, type User } from './user/user.ts';

/**
 * Resolves a credential to a user; undefined means that there is none. Rejects with Unauthorized for an invalid one.
 * `connection` is undefined unless the request came over a socket.
 */
export type Authenticator = (
  request: IncomingRequest,
  connection: Connection | undefined,
) => Promise<User | undefined>;

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

export interface AuthenticatorOptions {
  /** Returns the current configuration; called for every request. */
  config: () => AuthenticationConfig;
  reviewToken: ReviewToken;
  now?: () => Date;
}

/**
 * The authenticators of an aggregated API server in their order: front proxy, client certificate, bearer token; a request
 * without any of these is anonymous. A certificate of an unknown authority is ignored if there is a token, and refused otherwise,
 * as in kube-apiserver.
 */
export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { config, reviewToken, now = () => new Date() } = options;
  const isTrusted = cachedChains(now);

  const byCertificate = (request: IncomingRequest, connection: Connection, certificate: X509Certificate) => {
    const { clientAuthorities, frontProxy } = config();
    if (
      frontProxy &&
      isAllowedName(frontProxy, certificate) &&
      isTrusted(certificate, frontProxy.authorities)
    ) {
      const user = remoteUser(frontProxy, request, connection);
      if (user) {
        connection.markProxy();
        return { user };
      }
    }
    if (!isTrusted(certificate, clientAuthorities)) return 'unknown';
    return { user: certificateUser(certificate) };
  };

  return async (request, connection) => {
    const certificate = connection?.certificate;
    const presented = connection && certificate && byCertificate(request, connection, certificate);
    if (presented && presented !== 'unknown' && presented.user) return presented.user;
    const token = bearerToken(headerValues(request, connection, 'authorization')[0] ?? '');
    if (token !== undefined) return reviewToken(token, connection?.address);
    if (presented === 'unknown') throw new ArcError('Unauthorized', 'Unauthorized');
    return undefined;
  };
}

/** The common name is the user, organizations are groups. */
function certificateUser(certificate: X509Certificate): User | undefined {
  const name = subjectValues(certificate, 'CN').at(-1);
  if (!name) return undefined;
  const id = `X509SHA256=${certificate.fingerprint256.replaceAll(':', '').toLowerCase()}`;
  return {
    name,
    groups: subjectValues(certificate, 'O'),
    extra: { 'authentication.kubernetes.io/credential-id': [id] },
  };
}

function bearerToken(header: string): string | undefined {
  return /^\s*bearer +(\S+)/i.exec(header)?.[1];
}

/** Milliseconds a verified chain is cached: signatures are expensive, and a connection carries many requests. */
const chainTtlMs = 10_000;

/** `chainsTo`, cached for each certificate and as long as the authorities do not change. */
function cachedChains(
  now: () => Date,
): (certificate: X509Certificate, authorities: readonly X509Certificate[]) => boolean {
  type Result = { trusted: boolean; until: number };
  const results = new WeakMap<readonly X509Certificate[], WeakMap<X509Certificate, Result>>();
  return (certificate, authorities) => {
    const time = now();
    const known = results.get(authorities) ?? new WeakMap<X509Certificate, Result>();
    results.set(authorities, known);
    const result = known.get(certificate);
    if (result && time.getTime() < result.until) return result.trusted;
    const trusted = chainsTo(certificate, authorities, time);
    known.set(certificate, { trusted, until: time.getTime() + chainTtlMs });
    return trusted;
  };
}
