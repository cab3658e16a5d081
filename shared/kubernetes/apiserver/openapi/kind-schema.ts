import * as z from 'zod';
import type { KindDefinition } from '../kinds/definition.ts';
import { objectMetaSchema } from './meta-schemas.ts';
import type { Schema } from './schema.ts';
import { toStructural } from './structural-schema.ts';

const schemas = new WeakMap<KindDefinition, Schema>();

/**
 * Returns the structural schema of the fields of a kind (spec, status, data …). The first call takes milliseconds; cached per definition.
 */
export function kindSchema(definition: KindDefinition): Schema {
  const known = schemas.get(definition);
  if (known) return known;
  const json = z.toJSONSchema(definition.schema, {
    target: 'openapi-3.0',
    io: 'input',
    unrepresentable: 'any',
  });
  const schema = toStructural(json as Record<string, unknown>);
  schemas.set(definition, schema);
  return schema;
}

/** Returns the schema of an object: apiVersion, kind, metadata (inlined) and the fields of the kind. */
export function objectSchema(definition: KindDefinition): Schema {
  const fields = kindSchema(definition);
  return {
    ...fields,
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: objectMetaSchema(),
      ...fields.properties,
    },
  };
}
