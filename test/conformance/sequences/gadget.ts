import * as z from 'zod';
import type { KindDefinition } from '#shared/kubernetes/apiserver';

const set = { 'x-kubernetes-list-type': 'set' };
const keyed = (...keys: string[]) => ({
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': keys,
});
const atomicMap = { 'x-kubernetes-map-type': 'atomic' };
const preserved = { 'x-kubernetes-preserve-unknown-fields': true };
const texts = z.record(z.string(), z.string());

const part = z.object({
  name: z.string(),
  url: z.string().optional(),
  tags: z.array(z.string()).meta(set).optional(),
  options: texts.optional(),
  mode: z.string().default('auto'),
});

const port = z.object({ port: z.int(), protocol: z.string().default('TCP'), host: z.string().optional() });

const spec = z.object({
  color: z.string().optional(),
  size: z.int().optional(),
  flag: z.boolean().optional(),
  level: z.string().default('low'),
  parts: z.array(part).meta(keyed('name')).optional(),
  ports: z.array(port).meta(keyed('port', 'protocol')).optional(),
  tags: z.array(z.string()).meta(set).optional(),
  numbers: z.array(z.int()).meta(set).optional(),
  plain: z.array(z.string()).optional(),
  atomic: texts.meta(atomicMap).optional(),
  map: texts.optional(),
  free: z.record(z.string(), z.unknown()).meta(preserved).optional(),
  objects: z
    .record(z.string(), z.object({ type: z.string().optional(), list: z.array(z.string()).optional() }))
    .optional(),
  nested: z
    .object({
      a: z.object({ b: z.string().optional(), c: z.int().optional() }).optional(),
      d: z.object({ e: z.string().optional() }).meta(atomicMap).optional(),
    })
    .optional(),
});

const condition = z.object({ type: z.string(), status: z.string(), reason: z.string().optional() });

/** A kind with every form of schema that matters to who owns what. */
export const gadget: KindDefinition = {
  group: 'arc.opendefense.cloud',
  version: 'v1alpha1',
  kind: 'Gadget',
  plural: 'gadgets',
  singular: 'gadget',
  scope: 'Namespaced',
  description: 'For the comparison of writes.',
  status: true,
  columns: [],
  schema: z.object({
    spec: spec.optional(),
    status: z
      .object({
        phase: z.string().optional(),
        conditions: z.array(condition).meta(keyed('type')).optional(),
        seen: z.array(z.string()).meta(set).optional(),
      })
      .optional(),
  }),
};
