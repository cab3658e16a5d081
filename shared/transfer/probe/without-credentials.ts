import { cloudRegistry, cloudStorage, hasOwnTrust } from '../identity/hosts.ts';
import type { TlsSettings } from '../reference/address.ts';
import type { AuthenticatedReason, Finding } from './finding.ts';

/** An Endpoint without credentials whose server requires them. */
export interface CredentiallessEndpoint {
  name: string;
  type: string;
  tls?: TlsSettings;
}

/** The finding for it: at cloud servers workers may use their pod identity, which a probe does not have. */
export function withoutCredentials(
  { name, type, tls }: CredentiallessEndpoint,
  url: URL,
): Finding<AuthenticatedReason> {
  const isStored = type === 's3' || type === 'bundle';
  const found = isStored ? cloudStorage(url.origin) : cloudRegistry(url.origin);
  const secret = `name their Secret in spec.secretRef of Endpoint "${name}"`;
  if (found === undefined || hasOwnTrust(tls))
    return {
      status: 'False',
      reason: 'NoCredentials',
      message: `${url.host} requires credentials: ${secret}`,
    };
  const message = `${url.host} requires credentials, and workers use their ${found.cloud} identity; without one, ${secret}`;
  return { status: 'Unknown', reason: 'WorkerIdentity', message };
}
