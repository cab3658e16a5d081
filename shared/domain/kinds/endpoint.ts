import type { Condition, Metadata, Reference } from './meta.ts';

export type Usage = 'PullOnly' | 'PushOnly' | 'All';

export type EndpointTls = { caSecretRef?: Reference; insecureSkipVerify?: boolean; plainHTTP?: boolean };

export type EndpointSpec = {
  type: string;
  remoteURL: string;
  secretRef?: Reference;
  usage?: Usage;
  tls?: EndpointTls;
  maxInFlight?: number;
};

export type EndpointStatus = {
  conditions?: Condition[];
  /** The spec generation that track-credentials has looked at. */
  observedGeneration?: number;
  lastProbeTime?: string;
  /** Raised by one whenever the referenced Secret's data changes. */
  secretGeneration?: number;
  /** `<key id>:<hex HMAC-SHA-256 of the data>`. */
  credentialDigest?: string;
  inFlight?: string[];
};

export type Endpoint = {
  apiVersion: string;
  kind: string;
  metadata: Metadata;
  spec: EndpointSpec;
  status?: EndpointStatus;
};
