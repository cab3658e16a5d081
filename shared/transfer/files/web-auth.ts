import { parseChallenges } from '../auth/challenge.ts';
import type { EndpointCredentials } from '../credentials/credentials.ts';
import { TransferError } from '../errors/transfer-error.ts';
import type { TlsSettings } from '../reference/image-address.ts';
import type { Signer } from '../servers/file-server.ts';

export interface WebAuthOptions {
  endpoint: string;
  origin: URL;
  tls: TlsSettings;
  credentials: EndpointCredentials | undefined;
}

/**
 * Basic or Bearer, by the keys of the Endpoint's Secret. They are sent once the server has asked for them (401), or has refused a file
 * or said that there is none, as some do to anonymous clients; from then on with each request to it. Throws a config TransferError for credentials that HTTP has no use
 * for, or that would be sent without TLS.
 */
export function createWebAuth({ endpoint, origin, tls, credentials }: WebAuthOptions): Signer {
  const authorization = credentials && headerOf(credentials, endpoint);
  if (authorization !== undefined && origin.protocol !== 'https:' && tls.plainHTTP !== true) {
    const fix = 'use https, or set spec.tls.plainHTTP if everybody on the way may read them';
    throw new TransferError(
      'config',
      `Endpoint "${endpoint}" has credentials, which are not sent to ${origin.host} without TLS: ${fix}.`,
    );
  }
  let isAsked = false;
  return {
    hasCredentials: authorization !== undefined,
    headers: async () => (isAsked && authorization !== undefined ? { authorization } : {}),
    learn(status, headers) {
      if (isAsked || authorization === undefined || ![401, 403, 404].includes(status)) return false;
      const schemes = parseChallenges(headers['www-authenticate'] ?? '').map(({ scheme }) => scheme);
      const mine = authorization.startsWith('Basic ') ? 'basic' : 'bearer';
      if (schemes.length > 0 && !schemes.includes(mine))
        throw new TransferError(
          'config',
          `Server ${origin.host} asks for ${schemes.join(' or ')}, and the Secret of Endpoint "${endpoint}" is for ${mine}: username and password are for basic, token is for bearer.`,
        );
      isAsked = true;
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
