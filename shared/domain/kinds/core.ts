import type { ObjectMeta } from '#shared/base/meta';

/** core/v1 Secret; `data` values are base64. */
export type Secret = {
  apiVersion: string;
  kind: 'Secret';
  metadata: ObjectMeta;
  type?: string;
  immutable?: boolean;
  data?: Record<string, string>;
  stringData?: Record<string, string>;
};

export type ConfigMap = {
  apiVersion: string;
  kind: 'ConfigMap';
  metadata: ObjectMeta;
  data?: Record<string, string>;
  binaryData?: Record<string, string>;
};

export type Namespace = {
  apiVersion: string;
  kind: 'Namespace';
  metadata: ObjectMeta;
  spec?: { finalizers?: string[] };
  status?: { phase?: string };
};

/** core/v1 Event: what `kubectl events` shows. */
export type KubeEvent = {
  apiVersion: string;
  kind: 'Event';
  metadata: ObjectMeta;
  involvedObject: {
    apiVersion?: string;
    kind?: string;
    name?: string;
    namespace?: string;
    uid?: string;
    resourceVersion?: string;
  };
  type?: string;
  reason?: string;
  message?: string;
  count?: number;
  firstTimestamp?: string;
  lastTimestamp?: string;
  reportingComponent?: string;
  source?: { component?: string };
};

/** A reference to a Secret, in any of the forms of a pod spec: only its existence matters. */
type SecretUse = { [field: string]: unknown };

/** The part of core/v1 Pod that is read. */
export type Pod = {
  apiVersion: string;
  kind: 'Pod';
  metadata: ObjectMeta;
  spec?: { containers?: PodContainer[]; volumes?: PodVolume[]; schedulingGates?: Array<{ name: string }> };
  status?: {
    phase?: string;
    containerStatuses?: Array<{ name: string; state?: { terminated?: { exitCode?: number } } }>;
  };
};

export type PodContainer = {
  name: string;
  terminationMessagePolicy?: string;
  env?: Array<{ valueFrom?: { secretKeyRef?: SecretUse } }>;
  envFrom?: Array<{ secretRef?: SecretUse }>;
  volumeMounts?: Array<{ name: string }>;
};

export type PodVolume = {
  name: string;
  secret?: SecretUse;
  csi?: SecretUse;
  projected?: { sources?: Array<{ secret?: SecretUse }> };
};
