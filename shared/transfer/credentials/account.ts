import { createHash } from 'node:crypto';
import type { TlsSettings } from '../reference/image-address.ts';
import type { EndpointCredentials } from './credentials.ts';
import type { RegistryCredentials } from './docker-config.ts';

/**
 * Tells the accounts of one server apart, without their secrets: the same for all who are the same to the server. Empty for who is anonymous. A
 * token, which has no name, stands by its digest.
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
  // Keys of a storage may come as username and password.
  if ('accessKeyID' in credentials) return [`user ${credentials.accessKeyID}`];
  if ('token' in credentials) return [`token ${digest(credentials.token)}`];
  return 'kind' in credentials && credentials.kind === 'cloud' ? ['cloud'] : [];
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
