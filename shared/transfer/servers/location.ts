import type { EndpointCredentials } from '../credentials/credentials.ts';
import type { TlsSettings } from '../reference/address.ts';

/** A file at an Endpoint. */
export interface FileLocation {
  /** Name of the Endpoint, for messages. */
  name: string;
  /** `https://host[:port][/prefix]`, `http://...`, or without a scheme; for S3 the prefix begins with the bucket. */
  remoteURL: string;
  /** Unescaped, relative to `remoteURL`, with names separated by `/`. */
  path: string;
  tls?: TlsSettings;
  credentials?: EndpointCredentials;
  /** Hosts that the server may redirect to, and that may receive content, but no credentials (`createReach`). */
  redirectHosts?: readonly string[];
  /** Hosts of a registry's token service that also receive the credentials (`isTrustedRealm`). */
  tokenHosts?: readonly string[];
}

/** The name of a file in messages: `file "a/b" of server host`. */
export function labelOf(path: string, { host }: URL): string {
  return `file "${path}" of server ${host}`;
}
