import * as z from 'zod';
import type { KindDefinition, KubeObject } from '../kinds/definition.ts';

/** Sample kinds for tests, with every form of schema that they need. */

const artifact = z.object({
  type: z.string().min(1).max(63).describe('What it is.'),
  name: z
    .string()
    .regex(/^[a-z-]+$/)
    .optional(),
  spec: z.looseObject({}).optional().describe('Anything.'),
});

const condition = z.object({
  type: z.string(),
  status: z.enum(['True', 'False', 'Unknown']),
  lastTransitionTime: z.iso.datetime().optional(),
});

export const sampleOrder: KindDefinition = {
  group: 'arc.example.com',
  version: 'v1alpha1',
  kind: 'Order',
  plural: 'orders',
  singular: 'order',
  shortNames: ['ord'],
  categories: ['arc'],
  scope: 'Namespaced',
  description: 'What a user asks for.',
  schema: z.object({
    spec: z
      .object({
        artifacts: z.array(artifact).min(1).max(3).describe('What to move.'),
        mode: z.enum(['Rerun', 'Keep']).default('Rerun'),
        limit: z.int().min(0).max(10).optional(),
        ratio: z.number().positive().multipleOf(0.5).optional(),
        suspend: z.boolean().default(false),
        remote: z.url().optional(),
        port: z.union([z.int(), z.string()]).optional(),
        note: z.string().nullable().optional(),
        parameters: z.record(z.string(), artifact).optional(),
        extra: z.unknown().optional(),
        kept: z
          .object({ known: z.string() })
          .meta({ 'x-kubernetes-preserve-unknown-fields': true })
          .optional(),
        target: z
          .discriminatedUnion('via', [
            z.object({ via: z.literal('http'), url: z.string() }),
            z.object({ via: z.literal('file'), path: z.string() }),
          ])
          .optional(),
      })
      .describe('What is wanted.'),
    status: z
      .object({
        phase: z.string().optional(),
        observedGeneration: z.int().optional(),
        conditions: z
          .array(condition)
          .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] })
          .optional(),
      })
      .optional()
      .describe('What is.'),
  }),
  status: true,
  columns: [
    { name: 'Phase', type: 'string', description: 'Phase.', value: (order) => statusOf(order).get('phase') },
    {
      name: 'Observed',
      type: 'integer',
      description: 'Generation seen.',
      priority: 1,
      value: (order) => statusOf(order).get('observedGeneration'),
    },
  ],
  selectableFields: { 'status.phase': () => '' },
};

/** Columns return stored values of any type. */
function statusOf(order: KubeObject): Map<string, string> {
  return new Map(Object.entries(order.status ?? {}));
}

export const sampleSecret: KindDefinition = {
  group: '',
  version: 'v1',
  kind: 'Secret',
  plural: 'secrets',
  singular: 'secret',
  scope: 'Namespaced',
  description: 'Data to keep confidential.',
  schema: z.object({ data: z.record(z.string(), z.base64()).optional(), type: z.string().default('Opaque') }),
  status: false,
  columns: [],
};

export const sampleNamespace: KindDefinition = {
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  singular: 'namespace',
  shortNames: ['ns'],
  scope: 'Cluster',
  description: 'A space for names.',
  schema: z.object({ status: z.object({ phase: z.string().optional() }).optional() }),
  status: true,
  columns: [],
};

export const sampleReview: KindDefinition = {
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SelfSubjectAccessReview',
  plural: 'selfsubjectaccessreviews',
  singular: 'selfsubjectaccessreview',
  scope: 'Cluster',
  description: 'Asks whether the caller may do something.',
  schema: z.object({ spec: z.looseObject({}) }),
  status: true,
  columns: [],
  virtual: (review) => review,
};

export const sampleKinds: readonly KindDefinition[] = [
  sampleSecret,
  sampleNamespace,
  sampleOrder,
  sampleReview,
];

/** Returns a minimal valid Order with `spec` merged into its spec. */
export function anOrder(spec: Record<string, unknown> = {}, more: Record<string, unknown> = {}): KubeObject {
  return {
    apiVersion: 'arc.example.com/v1alpha1',
    kind: 'Order',
    metadata: { name: 'one', namespace: 'default' },
    spec: { artifacts: [{ type: 'oci' }], ...spec },
    ...more,
  };
}
