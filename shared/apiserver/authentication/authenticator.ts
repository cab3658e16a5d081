import type { X509Certificate } from 'node:crypto';
import { ArcError } from '#shared/errors';
import { chainsTo, subjectValues } from './chain.ts';
import type { AuthenticationConfig } from './config.ts';
import { type Connection, headerValues } from './connection.ts';
import { isAllowedName, remoteUser } from './front-proxy.ts';
import type { ReviewToken } from './token-review.ts';
import type { Authenticator, User } from './user.ts';

export interface AuthenticatorOptions {
  /** Answers the configuration in force; asked at every request. */
  config: () => AuthenticationConfig;
  reviewToken: ReviewToken;
  now?: () => Date;
}

/**
 * The authenticators of an aggregated API server in their order: front proxy, client certificate, bearer token; a request
 * without any of these is anonymous. A certificate that leads nowhere is no credential, but where it is all there is the
 * request is refused, as kube-apiserver does it.
 */
export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { config, reviewToken, now = () => new Date() } = options;
  const leadsTo = cachedChains(now);

  const byCertificate = (request: Request, connection: Connection, certificate: X509Certificate) => {
    const { clientAuthorities, frontProxy } = config();
    if (
      frontProxy &&
      isAllowedName(frontProxy, certificate) &&
      leadsTo(certificate, frontProxy.authorities)
    ) {
      const user = remoteUser(frontProxy, request, connection);
      if (user) return { user };
    }
    if (!leadsTo(certificate, clientAuthorities)) return 'unknown';
    return { user: certificateUser(certificate) };
  };

  return async (request, connection) => {
    const certificate = connection?.certificate;
    const shown = connection && certificate && byCertificate(request, connection, certificate);
    if (shown && shown !== 'unknown' && shown.user) return shown.user;
    const token = bearerToken(headerValues(request, connection, 'authorization')[0] ?? '');
    if (token !== undefined) return reviewToken(token);
    if (shown === 'unknown') throw new ArcError('Unauthorized', 'Unauthorized');
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

/** Milliseconds a chain once verified is believed: signatures are dear, and a connection brings many requests. */
const chainTtlMs = 10_000;

/** `chainsTo`, remembered for each certificate in use and for as long as the authorities stay the same. */
function cachedChains(
  now: () => Date,
): (certificate: X509Certificate, authorities: readonly X509Certificate[]) => boolean {
  type Verdict = { leads: boolean; until: number };
  const verdicts = new WeakMap<readonly X509Certificate[], WeakMap<X509Certificate, Verdict>>();
  return (certificate, authorities) => {
    const time = now();
    const known = verdicts.get(authorities) ?? new WeakMap<X509Certificate, Verdict>();
    verdicts.set(authorities, known);
    const verdict = known.get(certificate);
    if (verdict && time.getTime() < verdict.until) return verdict.leads;
    const leads = chainsTo(certificate, authorities, time);
    known.set(certificate, { leads, until: time.getTime() + chainTtlMs });
    return leads;
  };
}
