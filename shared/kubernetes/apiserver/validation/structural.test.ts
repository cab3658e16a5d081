import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { fc } from '#shared/base/testing';
import type { KindDefinition } from '../kinds/definition.ts';
import { anOrder, sampleOrder, sampleSecret } from '../testing/sample-kinds.ts';
import { checkFields, duplicateCauses, structuralTree } from './structural.ts';

describe('checkFields', () => {
  it('returns a valid object unchanged', () => {
    const order = anOrder({ limit: 1, note: null });
    expect(checkFields(sampleOrder, order)).toEqual({ pruned: order, unknown: [] });
  });

  it('prunes and names unknown fields at every depth', () => {
    const order = anOrder(
      {
        bogus: 1,
        artifacts: [{ type: 'a' }, { type: 'b', bogus: { deep: 1 } }],
        parameters: { p: { type: 'c', q: 1 } },
      },
      { top: true, metadata: { name: 'one', foo: 1, ownerReferences: [{ uid: 'u', bar: 1 }] } },
    );
    const { pruned, unknown } = checkFields(sampleOrder, order);
    expect(unknown.toSorted()).toEqual([
      'metadata.foo',
      'metadata.ownerReferences[0].bar',
      'spec.artifacts[1].bogus',
      'spec.bogus',
      'spec.parameters.p.q',
      'top',
    ]);
    expect(pruned).toEqual(
      anOrder(
        { artifacts: [{ type: 'a' }, { type: 'b' }], parameters: { p: { type: 'c' } } },
        { metadata: { name: 'one', ownerReferences: [{ uid: 'u' }] } },
      ),
    );
  });

  it('does not change the body', () => {
    const order = anOrder({ bogus: 1 });
    checkFields(sampleOrder, order);
    expect(order.spec).toHaveProperty('bogus');
  });

  it('keeps everything in loose objects, free values, maps and preserved objects', () => {
    const order = anOrder({
      artifacts: [{ type: 'a', spec: { any: { thing: null } } }],
      extra: { x: [{ y: null }] },
      kept: { known: 'k', unknown: 1 },
    });
    order.metadata = {
      ...order.metadata,
      labels: { 'a/b': 'c' },
      managedFields: [{ fieldsV1: { 'f:spec': { '.': {} } } }],
    };
    expect(checkFields(sampleOrder, order)).toEqual({ pruned: order, unknown: [] });
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, data: { anything: 'YQ==' } };
    expect(checkFields(sampleSecret, secret).unknown).toEqual([]);
  });

  it('keeps every field of any variant of a union', () => {
    expect(
      checkFields(sampleOrder, anOrder({ target: { via: 'file', url: 'u', path: 'p' } })).unknown,
    ).toEqual([]);
    expect(checkFields(sampleOrder, anOrder({ target: { via: 'file', port: 1 } })).unknown).toEqual([
      'spec.target.port',
    ]);
  });

  it('treats a null that the schema does not allow as absent', () => {
    const { pruned } = checkFields(sampleOrder, anOrder({ limit: null, note: null }, { status: null }));
    expect(pruned).toEqual(anOrder({ note: null }));
    const body = { ...anOrder(), metadata: { name: 'one', creationTimestamp: null } };
    expect(checkFields(sampleOrder, body).pruned.metadata).toEqual({ name: 'one' });
  });

  it('leaves values of the wrong type for validation to name', () => {
    const order = anOrder({ artifacts: 'none', limit: { a: 1 } });
    expect(checkFields(sampleOrder, order)).toEqual({ pruned: order, unknown: [] });
  });

  it('treats names of JavaScript as unknown fields like any other', () => {
    const body = JSON.parse(
      '{"apiVersion":"v","kind":"Order","metadata":{"name":"a","labels":{"__proto__":"x"}},"spec":{"__proto__":{"a":1},"constructor":{}}}',
    );
    const { pruned, unknown } = checkFields(sampleOrder, body);
    expect(unknown).toEqual(['spec.__proto__', 'spec.constructor']);
    expect(JSON.stringify(pruned)).toContain('"labels":{"__proto__":"x"}');
    expect(Object.getPrototypeOf(pruned.spec)).toBe(Object.prototype);
  });

  it('names at most a hundred', () => {
    const spec = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`bogus${index}`, 1]));
    const { pruned, unknown } = checkFields(sampleOrder, anOrder(spec));
    expect(unknown).toHaveLength(100);
    expect(pruned).toEqual(anOrder());
  });

  it('is idempotent', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.dictionary(fc.string(), fc.jsonValue()),
        (spec, top) => {
          const { pruned } = checkFields(sampleOrder, { ...top, spec });
          expect(checkFields(sampleOrder, pruned)).toEqual({ pruned, unknown: [] });
        },
      ),
    );
  });

  it('makes the tree of a definition once', () => {
    expect(structuralTree(sampleOrder)).toBe(structuralTree(sampleOrder));
  });
});

const definition: KindDefinition = {
  group: 'example.com',
  version: 'v1',
  kind: 'Box',
  plural: 'boxes',
  singular: 'box',
  scope: 'Namespaced',
  description: 'A box.',
  status: false,
  columns: [],
  schema: z.object({
    tags: z.array(z.string()).optional().meta({ 'x-kubernetes-list-type': 'set' }),
    parts: z
      .array(z.object({ name: z.string(), size: z.int() }))
      .optional()
      .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
    list: z.array(z.string()).optional(),
  }),
};
const causes = (fields: object) => duplicateCauses(structuralTree(definition), fields);

describe('duplicateCauses', () => {
  it('names each duplicate of a set once', () => {
    expect(causes({ tags: ['a', 'b', 'a', 'a'] })).toEqual([
      { reason: 'FieldValueDuplicate', message: 'Duplicate value: "a"', field: 'tags[2]' },
    ]);
  });
  it('compares items of a map list by their keys alone', () => {
    expect(
      causes({
        parts: [
          { name: 'a', size: 1 },
          { name: 'a', size: 2 },
        ],
      }),
    ).toEqual([
      { reason: 'FieldValueDuplicate', message: 'Duplicate value: {"name":"a"}', field: 'parts[1]' },
    ]);
  });
  it('lets other lists repeat', () => {
    expect(causes({ list: ['a', 'a'], tags: ['a', 'b'], parts: [] })).toEqual([]);
  });
});
