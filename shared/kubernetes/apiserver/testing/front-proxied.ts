import { ArcError } from '#shared/base/errors';
import { type Authenticator, createAuthenticator } from '../authentication/authenticator.ts';
import { parseAuthenticationConfig } from '../authentication/config.ts';

/**
 * Authenticates as behind a front proxy whose certificates `authority` issues, and takes the bearer token `admin`. A request without a
 * connection, as of fixtures, is the admin's.
 */
export function frontProxied(authority: { cert: string }): Authenticator {
  const authenticate = createAuthenticator({
    config: () =>
      parseAuthenticationConfig({
        'requestheader-client-ca-file': authority.cert,
        'requestheader-allowed-names': '["front-proxy"]',
        'requestheader-username-headers': '["X-Remote-User"]',
        'requestheader-group-headers': '["X-Remote-Group"]',
      }),
    reviewToken: async (token) => {
      if (token === 'admin') return admin;
      throw new ArcError('Unauthorized', 'Unauthorized');
    },
  });
  return async (request, connection) => (connection ? authenticate(request, connection) : admin);
}

const admin = { name: 'admin', groups: [] };
