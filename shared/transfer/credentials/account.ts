import { createHash } from 'node:crypto';
import type { TlsSettings } from '../reference/address.ts';
import type { EndpointCredentials } from './credentials.ts';
import type { RegistryCredentials } from './docker-config.ts';

/**
 * Returns a key that distinguishes accounts of one server without containing secrets: equal for credentials that the server treats as one
 * account, and empty for anonymous access. A token has no name, so its digest is used.
 */
export function accountOf(
  credentials: RegistryCredentials | EndpointCredentials | undefined,
  { certificate }: TlsSettings = {},
): string {
  const names = [
    ...nameOf(credentials),
    ...(certificate === undefined ? [] : [`cert ${digest(certificate)}`]),
  ];
  return names.join(' ');
}

function nameOf(credentials: RegistryCredentials | EndpointCredentials | undefined): string[] {
  if (credentials === undefined) return [];
  if ('username' in credentials) return [`user ${credentials.username}`];
  // S3 keys may be stored as username and password.
  if ('accessKeyID' in credentials) return [`user ${credentials.accessKeyID}`];
  if ('token' in credentials) return [`token ${digest(credentials.token)}`];
  return 'kind' in credentials && credentials.kind === 'cloud' ? ['cloud'] : [];
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
