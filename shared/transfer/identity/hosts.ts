import type { TlsSettings } from '../reference/image-address.ts';
import { awsHost } from '../s3/place.ts';

/** A server of a cloud that takes the identity of a pod. */
export interface CloudHost {
  cloud: 'AWS';
  /** The domain of the cloud's services. */
  domain: string;
}

// 123456789012.dkr.ecr.eu-central-1.amazonaws.com. Customers name servers below amazonaws.com too (load balancers, machines): nothing looser will do.
const ecrHost = /^\d{12}\.dkr\.ecr\.([a-z]{2}(?:-[a-z]+)+-\d+)\.(amazonaws\.com(?:\.cn)?)$/;

/** The registry of a cloud at `origin`; undefined for all other servers. */
export function cloudRegistry(origin: string): (CloudHost & { region: string }) | undefined {
  const [, region, domain] = ecrHost.exec(secureHost(origin)) ?? [];
  return region === undefined || domain === undefined ? undefined : { cloud: 'AWS', region, domain };
}

/** The storage of a cloud at `origin`; undefined for all other servers. */
export function cloudStorage(origin: string): CloudHost | undefined {
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
