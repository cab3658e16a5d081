import { parseChallenges } from '../auth/challenge.ts';
import type { EndpointCredentials } from '../credentials/credentials.ts';
import { TransferError } from '../errors/transfer-error.ts';
import type { TlsSettings } from '../reference/address.ts';
import type { Signer } from '../servers/file-server.ts';

export interface WebAuthOptions {
  endpoint: string;
  origin: URL;
  tls: TlsSettings;
  credentials: EndpointCredentials | undefined;
}

/**
 * Returns a Signer for Basic or Bearer authentication, depending on the Endpoint's Secret. Credentials are sent after the server has answered
 * 401, or 403 or 404 as some servers do to anonymous clients; from then on with each request. Throws a config TransferError for credentials
 * that do not fit HTTP, or that would be sent without TLS.
 */
export function createWebAuth({ endpoint, origin, tls, credentials }: WebAuthOptions): Signer {
  const authorization = credentials && headerOf(credentials, endpoint);
  if (authorization !== undefined && origin.protocol !== 'https:' && tls.plainHTTP !== true) {
    const fix = 'use https, or set spec.tls.plainHTTP if anybody in the network may read them';
    throw new TransferError(
      'config',
      `Endpoint "${endpoint}" has credentials, which are not sent to ${origin.host} without TLS: ${fix}.`,
    );
  }
  let isRequired = false;
  return {
    hasCredentials: authorization !== undefined,
    headers: async () => (isRequired && authorization !== undefined ? { authorization } : {}),
    learn(status, headers) {
      if (isRequired || authorization === undefined || ![401, 403, 404].includes(status)) return false;
      const schemes = parseChallenges(headers['www-authenticate'] ?? '').map(({ scheme }) => scheme);
      const mine = authorization.startsWith('Basic ') ? 'basic' : 'bearer';
      if (schemes.length > 0 && !schemes.includes(mine))
        throw new TransferError(
          'config',
          `Server ${origin.host} requires ${schemes.join(' or ')} authentication, but the Secret of Endpoint "${endpoint}" is for ${mine}: username and password are for basic, token is for bearer.`,
        );
      isRequired = true;
      return true;
    },
  };
}

function headerOf(credentials: EndpointCredentials, endpoint: string): string {
  if ('username' in credentials) {
    const pair = `${credentials.username}:${credentials.password}`;
    return `Basic ${Buffer.from(pair).toString('base64')}`;
  }
  if ('token' in credentials) return `Bearer ${credentials.token}`;
  throw new TransferError(
    'config',
    `The Secret of Endpoint "${endpoint}" is not for an HTTP server: it needs username and password, or token.`,
  );
}
