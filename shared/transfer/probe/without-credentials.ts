import { cloudRegistry, cloudStorage, hasOwnTrust } from '../identity/hosts.ts';
import type { TlsSettings } from '../reference/image-address.ts';
import type { AuthenticatedReason, Finding } from './finding.ts';

/** An Endpoint without credentials whose server asks for some. */
export interface Unknown {
  name: string;
  type: string;
  tls?: TlsSettings;
}

/** What that means: at servers of clouds the identity of the workers counts, which a probe does not have. */
export function withoutCredentials({ name, type, tls }: Unknown, url: URL): Finding<AuthenticatedReason> {
  const isStored = type === 's3' || type === 'bundle';
  const found = isStored ? cloudStorage(url.origin) : cloudRegistry(url.origin);
  const secret = `name their Secret in spec.secretRef of Endpoint "${name}"`;
  if (found === undefined || hasOwnTrust(tls))
    return {
      status: 'False',
      reason: 'NoCredentials',
      message: `${url.host} asks for credentials: ${secret}`,
    };
  const message = `${url.host} asks for credentials, and workers use their identity of ${found.cloud} there; without one, ${secret}`;
  return { status: 'Unknown', reason: 'WorkerIdentity', message };
}
