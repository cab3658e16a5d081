import * as z from 'zod';
import type { KindDefinition } from '../kinds/definition.ts';
import { objectMetaSchema } from './meta-schemas.ts';
import type { Schema } from './schema.ts';
import { toStructural } from './structural-schema.ts';

const schemas = new WeakMap<KindDefinition, Schema>();

/**
 * The structural schema of the fields a kind declares (spec, status, data …). Made at the first call for a
 * definition, which takes milliseconds, and kept as long as the definition is.
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

/** The schema of a whole object: apiVersion, kind, metadata (inlined) and the kind's fields. */
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
