import { isRecord, type Json } from '#shared/base/meta';
import type { Schema } from './schema.ts';

/** Returns a copy of the value with the defaults of its schema filled in at every level. */
export function withSchemaDefaults(schema: Schema, value: Record<string, Json>): Record<string, Json> {
  return filled(schema, value) as Record<string, Json>;
}

function filled(schema: Schema, value: unknown): unknown {
  const { properties = {}, additionalProperties, items } = schema;
  if (Array.isArray(value)) return items ? value.map((item) => filled(items, item)) : value;
  if (!isRecord(value)) return value;
  const missing = Object.entries(properties).flatMap(([name, inner]) =>
    inner.default === undefined || Object.hasOwn(value, name) ? [] : [[name, inner.default] as const],
  );
  const rest = isRecord(additionalProperties) ? (additionalProperties as Schema) : undefined;
  const inner = [...Object.entries(value), ...missing].map(([name, field]) => {
    const known = Object.hasOwn(properties, name) ? properties[name] : rest;
    return [name, known ? filled(known, field) : field] as const;
  });
  return Object.fromEntries(inner);
}
