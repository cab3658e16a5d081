import * as z from 'zod';
import type { Writer } from '../fieldmanager/track-update.ts';
import type { KindDefinition, KubeObject } from '../kinds/definition.ts';

/** A sample kind for tests, with every form of schema that field ownership distinguishes. */

const set = { 'x-kubernetes-list-type': 'set' };
const keyed = (...keys: string[]) => ({
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': keys,
});
const preserved = { 'x-kubernetes-preserve-unknown-fields': true };
const texts = z.record(z.string(), z.string());

const part = z.object({
  name: z.string(),
  url: z.string().optional(),
  tags: z.array(z.string()).meta(set).optional(),
  opts: texts.optional(),
});

const port = z.object({ port: z.int(), proto: z.string().default('TCP'), host: z.string().optional() });

const spec = z.object({
  color: z.string().optional(),
  size: z.int().optional(),
  flag: z.boolean().optional(),
  note: z.string().nullable().optional(),
  parts: z.array(part).meta(keyed('name')).optional(),
  ports: z.array(port).meta(keyed('port', 'proto')).optional(),
  tags: z.array(z.string()).meta(set).optional(),
  nums: z.array(z.int()).meta(set).optional(),
  plain: z.array(z.string()).optional(),
  amap: texts.meta({ 'x-kubernetes-map-type': 'atomic' }).optional(),
  map: texts.optional(),
  free: z.record(z.string(), z.unknown()).meta(preserved).optional(),
  any: z.unknown().optional(),
  kept: z
    .object({ known: z.object({ a: z.string().optional() }).optional() })
    .meta(preserved)
    .optional(),
  objs: z
    .record(
      z.string(),
      z.object({ type: z.string().optional(), list: z.array(z.string()).meta(set).optional() }),
    )
    .optional(),
  nested: z
    .object({
      a: z.object({ b: z.string().optional(), c: z.int().optional() }).optional(),
      d: z.object({}).optional(),
    })
    .optional(),
  port: z.union([z.int(), z.string()]).optional(),
});

const condition = z.object({ type: z.string(), status: z.string() });

export const sampleWidget: KindDefinition = {
  group: 'test.example.com',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  singular: 'widget',
  scope: 'Namespaced',
  description: 'For tests.',
  status: true,
  columns: [],
  schema: z.object({
    spec: spec.optional(),
    status: z
      .object({ phase: z.string().optional(), conditions: z.array(condition).meta(keyed('type')).optional() })
      .optional(),
  }),
};

export const sampleTime = '2026-01-01T00:00:00Z';

export function sampleWriter(manager: string, more: Partial<Writer> = {}): Writer {
  return {
    definition: sampleWidget,
    apiVersion: 'test.example.com/v1',
    manager,
    subresource: '',
    time: sampleTime,
    ...more,
  };
}

export function aWidget(content: object = {}, metadata: object = {}): KubeObject {
  return {
    apiVersion: 'test.example.com/v1',
    kind: 'Widget',
    metadata: { name: 'one', namespace: 'ns', ...metadata },
    ...(Object.keys(content).length > 0 && { spec: content }),
  };
}
