import { awsHost } from '#shared/domain/address';
import type { TlsSettings } from '../reference/address.ts';

/** An AWS server that accepts pod identities. */
export interface AwsHost {
  cloud: 'AWS';
  /** The domain of the partition's services. */
  domain: string;
}

/** A cloud registry that accepts pod identities. */
export type CloudRegistry =
  | (AwsHost & { region: string })
  /** `domain`: the registry domain of the Azure cloud. */
  | { cloud: 'Azure'; host: string; domain: AzureDomain }
  | { cloud: 'Google' };

/** The registry domains of Azure: global, China, US government. */
export type AzureDomain = 'azurecr.io' | 'azurecr.cn' | 'azurecr.us';

// Customers can name servers (load balancers, machines, websites) below cloud domains too, so the patterns must be exact.
// 123456789012.dkr.ecr.eu-central-1.amazonaws.com
const ecrHost = /^\d{12}\.dkr\.ecr\.([a-z]{2}(?:-[a-z]+)+-\d+)\.(amazonaws\.com(?:\.cn)?)$/;
// mirror.azurecr.io; Azure appends a hash to names that need not be unique: mirror-d7h5fjb3bxcpexd0.azurecr.io
const acrHost = /^[a-z\d]{5,50}(?:-[a-z\d]{1,20})?\.azurecr\.(io|cn|us)$/;
// europe-docker.pkg.dev, europe-west3-docker.pkg.dev, gcr.io, eu.gcr.io
const googleHost = /^(?:[a-z]+(?:-[a-z]+\d{1,2})?-docker\.pkg\.dev|(?:(?:us|eu|asia)\.)?gcr\.io)$/;

/** Identifies a cloud registry by its origin; undefined for all other servers. */
export function cloudRegistry(origin: string): CloudRegistry | undefined {
  const host = secureHost(origin);
  const [, region, domain] = ecrHost.exec(host) ?? [];
  if (region !== undefined && domain !== undefined) return { cloud: 'AWS', region, domain };
  const [, part] = acrHost.exec(host) ?? [];
  if (part === 'io' || part === 'cn' || part === 'us')
    return { cloud: 'Azure', host, domain: `azurecr.${part}` };
  return googleHost.test(host) ? { cloud: 'Google' } : undefined;
}

/** Identifies a cloud storage by its origin; undefined for all other servers. */
export function cloudStorage(origin: string): AwsHost | undefined {
  const host = secureHost(origin);
  if (!awsHost.test(host)) return undefined;
  return { cloud: 'AWS', domain: host.endsWith('.cn') ? 'amazonaws.com.cn' : 'amazonaws.com' };
}

/** The host of an https origin with the default port; '' for others. */
function secureHost(origin: string): string {
  const { protocol, host } = new URL(origin);
  return protocol === 'https:' ? host : '';
}

/**
 * True for an Endpoint with TLS settings of its own. It gets no cloud identity: its author could otherwise decide which server passes for one of
 * the cloud.
 */
export function hasOwnTrust(tls: TlsSettings = {}): boolean {
  const { ca, certificate, insecureSkipVerify, plainHTTP } = tls;
  return ca !== undefined || certificate !== undefined || insecureSkipVerify === true || plainHTTP === true;
}
