import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { KindDefinition } from '../kinds/definition.ts';
import { structuralTree } from './structural.ts';
import { duplicateCauses } from './unique-items.ts';

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
