import * as z from 'zod';
import type { KindDefinition, KubeObject } from '#shared/kubernetes/apiserver';

const v1 = { group: '', version: 'v1' } as const;

/** The finalizer that holds a namespace until its contents are gone; the garbage collector removes it. */
export const namespaceFinalizer = 'kubernetes';

const nameLabel = 'kubernetes.io/metadata.name';

/**
 * core/v1 Namespace. In place of `spec.finalizers` and the `/finalize` subresource it has the same finalizer in its metadata,
 * so that deleting works as for every other kind.
 */
export const namespaces: KindDefinition = {
  ...v1,
  kind: 'Namespace',
  plural: 'namespaces',
  singular: 'namespace',
  shortNames: ['ns'],
  scope: 'Cluster',
  description: 'Namespace provides a scope for names.',
  schema: z.object({
    spec: z.object({ finalizers: z.array(z.string()).optional() }).optional(),
    status: z.object({ phase: z.string().optional() }).loose().optional(),
  }),
  status: false,
  columns: [
    {
      name: 'Status',
      type: 'string',
      description: 'Active, or Terminating while its contents are being deleted.',
      value: (object) => (object.metadata.deletionTimestamp === undefined ? 'Active' : 'Terminating'),
    },
  ],
  hooks: {
    prepare(object, old) {
      const labels = { ...object.metadata.labels, [nameLabel]: object.metadata.name };
      const finalizers = old ? object.metadata.finalizers : held(object.metadata.finalizers);
      const metadata = { ...object.metadata, labels, ...(finalizers && { finalizers }) };
      return { ...object, metadata, status: { phase: 'Active' } };
    },
  },
};

function held(finalizers: string[] = []): string[] {
  return finalizers.includes(namespaceFinalizer) ? finalizers : [...finalizers, namespaceFinalizer];
}

const texts = z.record(z.string(), z.string());

/** core/v1 ConfigMap. */
export const configMaps: KindDefinition = {
  ...v1,
  kind: 'ConfigMap',
  plural: 'configmaps',
  singular: 'configmap',
  shortNames: ['cm'],
  scope: 'Namespaced',
  description: 'ConfigMap holds configuration data for programs to consume.',
  schema: z.object({
    data: texts.nullish().describe('The configuration, text by key.'),
    binaryData: texts.nullish().describe('Like data, base64.'),
    immutable: z.boolean().nullish(),
  }),
  status: false,
  columns: [
    {
      name: 'Data',
      type: 'integer',
      description: 'The number of keys.',
      value: (object) => count(object.data) + count(object.binaryData),
    },
  ],
};

/** core/v1 ServiceAccount: it can be created and looked at; tokens come from the standalone. */
export const serviceAccounts: KindDefinition = {
  ...v1,
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  singular: 'serviceaccount',
  shortNames: ['sa'],
  scope: 'Namespaced',
  description: 'ServiceAccount is an identity that programs of a namespace act under.',
  schema: z.object({
    secrets: z.array(z.looseObject({ name: z.string().optional() })).nullish(),
    imagePullSecrets: z.array(z.object({ name: z.string() })).nullish(),
    automountServiceAccountToken: z.boolean().nullish(),
  }),
  status: false,
  columns: [
    {
      name: 'Secrets',
      type: 'integer',
      description: 'The number of Secrets it names.',
      value: (object) => (Array.isArray(object.secrets) ? object.secrets.length : 0),
    },
  ],
};

/** How many keys a map field has; 0 when it is absent. */
export function count(map: KubeObject[string]): number {
  return typeof map === 'object' && map !== null ? Object.keys(map).length : 0;
}
