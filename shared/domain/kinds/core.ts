import type { ObjectMeta } from '#shared/meta';

/** core/v1 Secret; `data` values are base64. */
export type Secret = {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  type?: string;
  immutable?: boolean;
  data?: Record<string, string>;
  stringData?: Record<string, string>;
};

export type ConfigMap = {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  data?: Record<string, string>;
  binaryData?: Record<string, string>;
};

export type Namespace = {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec?: { finalizers?: string[] };
  status?: { phase?: string };
};

/** core/v1 Event: what `kubectl events` shows. */
export type KubeEvent = {
  apiVersion: string;
  kind: string;
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

/** core/v1 Pod, as much of it as is looked at. */
export type Pod = {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  status?: { phase?: string };
};
