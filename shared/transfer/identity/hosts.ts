import { awsHost } from '#shared/domain/address';
import type { TlsSettings } from '../reference/image-address.ts';

/** A server of AWS that takes the identity of a pod. */
export interface AwsHost {
  cloud: 'AWS';
  /** The domain of the cloud's services. */
  domain: string;
}

/** A registry of a cloud that takes the identity of a pod. */
export type CloudRegistry =
  | (AwsHost & { region: string })
  /** `domain`: that of all registries in the same part of Azure. */
  | { cloud: 'Azure'; host: string; domain: AzureDomain }
  | { cloud: 'Google' };

/** Where the registries of Azure are: everywhere, those of China, and those of the US government. */
export type AzureDomain = 'azurecr.io' | 'azurecr.cn' | 'azurecr.us';

// Customers name servers below the domains of clouds too (load balancers, machines, websites): nothing looser will do.
// 123456789012.dkr.ecr.eu-central-1.amazonaws.com
const ecrHost = /^\d{12}\.dkr\.ecr\.([a-z]{2}(?:-[a-z]+)+-\d+)\.(amazonaws\.com(?:\.cn)?)$/;
// mirror.azurecr.io, and with what Azure adds to a name that others may have too: mirror-d7h5fjb3bxcpexd0.azurecr.io
const acrHost = /^[a-z\d]{5,50}(?:-[a-z\d]{1,20})?\.azurecr\.(io|cn|us)$/;
// europe-docker.pkg.dev, europe-west3-docker.pkg.dev, gcr.io, eu.gcr.io
const googleHost = /^(?:[a-z]+(?:-[a-z]+\d{1,2})?-docker\.pkg\.dev|(?:(?:us|eu|asia)\.)?gcr\.io)$/;

/** The registry of a cloud at `origin`; undefined for all other servers. */
export function cloudRegistry(origin: string): CloudRegistry | undefined {
  const host = secureHost(origin);
  const [, region, domain] = ecrHost.exec(host) ?? [];
  if (region !== undefined && domain !== undefined) return { cloud: 'AWS', region, domain };
  const [, part] = acrHost.exec(host) ?? [];
  if (part === 'io' || part === 'cn' || part === 'us')
    return { cloud: 'Azure', host, domain: `azurecr.${part}` };
  return googleHost.test(host) ? { cloud: 'Google' } : undefined;
}

/** The storage of a cloud at `origin`; undefined for all other servers. */
export function cloudStorage(origin: string): AwsHost | undefined {
  const host = secureHost(origin);
  if (!awsHost.test(host)) return undefined;
  return { cloud: 'AWS', domain: host.endsWith('.cn') ? 'amazonaws.com.cn' : 'amazonaws.com' };
}

/** The host of an origin with TLS at the usual port; for others ''. */
function secureHost(origin: string): string {
  const { protocol, host } = new URL(origin);
  return protocol === 'https:' ? host : '';
}

/**
 * True for an Endpoint that says by itself whom to trust or who it is. It gets no identity of a cloud: whoever writes the Endpoint would decide
 * which server counts as one of the cloud.
 */
export function hasOwnTrust(tls: TlsSettings = {}): boolean {
  const { ca, certificate, insecureSkipVerify, plainHTTP } = tls;
  return ca !== undefined || certificate !== undefined || insecureSkipVerify === true || plainHTTP === true;
}
