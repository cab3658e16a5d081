import { isRecord } from '#shared/base/meta';

/**
 * The OpenAPI v3 schema of an artifact's spec, given by its type: structural as Kubernetes defines it for custom resources, without CEL.
 * An object without additionalProperties accepts the fields of `properties` and no others.
 */
export interface Schema {
  type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  enum?: unknown[];
  nullable?: boolean;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: boolean;
  exclusiveMaximum?: boolean;
  multipleOf?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  minProperties?: number;
  maxProperties?: number;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
}

/** True for a schema that accepts fields that it does not name. */
export function isOpen(schema: Schema): boolean {
  const { properties, additionalProperties } = schema;
  if (schema['x-kubernetes-preserve-unknown-fields'] === true) return true;
  return additionalProperties === true || (properties === undefined && additionalProperties === undefined);
}

/** Returns the schema of a field of an object; undefined for a field that the object may not have. */
export function fieldSchema(schema: Schema, name: string): Schema | undefined {
  const { properties = {}, additionalProperties } = schema;
  if (Object.hasOwn(properties, name)) return properties[name];
  if (isRecord(additionalProperties)) return additionalProperties as Schema;
  return isOpen(schema) ? {} : undefined;
}
