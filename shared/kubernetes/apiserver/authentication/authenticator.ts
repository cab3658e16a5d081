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
 * Resolves with the user of a request; undefined without a credential. Rejects with Unauthorized for an invalid credential.
 * `connection` is undefined for in-process calls.
 */
export type Authenticator = (
  request: IncomingRequest,
  connection: Connection | undefined,
) => Promise<User | undefined>;

/** Resolves with the user of a request: system:anonymous without a credential, otherwise a member of system:authenticated. */
export async function authenticateRequest(
  authenticate: Authenticator,
  request: IncomingRequest,
  connection: Connection | undefined,
): Promise<User> {
  const user = await authenticate(request, connection);
  if (!user) return anonymous;
  connection?.markAuthenticated();
  // A front proxy also forwards anonymous requests.
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
 * Returns the authenticator of an aggregated API server. Tries front proxy, client certificate and bearer token; a request without any of
 * these is anonymous. As in kube-apiserver, a certificate of an unknown authority is ignored if the request has a token, otherwise refused.
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
    const fromCertificate = connection && certificate && byCertificate(request, connection, certificate);
    if (fromCertificate && fromCertificate !== 'unknown' && fromCertificate.user) return fromCertificate.user;
    const token = bearerToken(headerValues(request, connection, 'authorization')[0] ?? '');
    if (token !== undefined) return reviewToken(token, connection?.address);
    if (fromCertificate === 'unknown') throw new ArcError('Unauthorized', 'Unauthorized');
    return undefined;
  };
}

/** Returns the user of a certificate: the common name is the user name, organizations are groups. */
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

/** TTL of verified chains: verification is expensive, and a connection carries many requests. */
const chainTtlMs = 10_000;

/** Returns `chainsTo` with a cache per set of authorities and certificate. */
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
