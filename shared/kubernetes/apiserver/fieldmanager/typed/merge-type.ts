import type { KindDefinition } from '../../kinds/definition.ts';
import { objectSchema } from '../../openapi/kind-schema.ts';
import type { Schema } from '../../openapi/schema.ts';

/** The type of a value for merging and ownership. An untyped value has several of the three. */
export interface MergeType {
  scalar?: 'string' | 'numeric' | 'boolean' | 'untyped';
  list?: ListType;
  map?: MapType;
}

export interface ListType {
  /** An atomic list has one owner and is replaced as a whole; items of a set or map have their own owners. */
  kind: 'atomic' | 'set' | 'map';
  /** The key fields of kind `map`, with their defaults. */
  keys: readonly { name: string; fallback: unknown }[];
  items: MergeType;
}

export interface MapType {
  atomic: boolean;
  fields: ReadonlyMap<string, MergeType>;
  /** The type of undeclared fields; undefined if they are not allowed. */
  values: MergeType | undefined;
}

const untyped: MergeType = { scalar: 'untyped' };
untyped.list = { kind: 'atomic', keys: [], items: untyped };
untyped.map = { atomic: true, fields: new Map(), values: untyped };

/** The type without a schema: maps merge by key and lists are atomic. */
const deduced: MergeType = { scalar: 'untyped', list: { kind: 'atomic', keys: [], items: untyped } };
deduced.map = { atomic: false, fields: new Map(), values: deduced };

const types = new WeakMap<KindDefinition, MergeType>();

/** Returns the type of a kind, including metadata. Cached per definition. */
export function mergeTypeOf(definition: KindDefinition): MergeType {
  let type = types.get(definition);
  if (!type) {
    type = mergeType(objectSchema(definition));
    types.set(definition, type);
  }
  return type;
}

/** Converts a structural schema by the rules of k8s.io/kube-openapi schemaconv. */
export function mergeType(schema: Schema, outerPreserves = false): MergeType {
  const preserve = outerPreserves || schema['x-kubernetes-preserve-unknown-fields'] === true;
  switch (schema.type) {
    case 'object':
      return { map: mapType(schema, preserve) };
    case 'array':
      return { list: listType(schema, preserve) };
    case 'string':
      return { scalar: schema.format === undefined || schema.format === 'byte' ? 'string' : 'untyped' };
    case 'integer':
    case 'number':
      return { scalar: 'numeric' };
    case 'boolean':
      return { scalar: 'boolean' };
    default:
      return { scalar: 'untyped', list: listType(schema, preserve), map: mapType(schema, preserve) };
  }
}

function mapType(schema: Schema, preserve: boolean): MapType {
  const fields = new Map(
    Object.entries(schema.properties ?? {}).map(([name, field]) => [name, mergeType(field, preserve)]),
  );
  let values: MergeType | undefined;
  if (schema.additionalProperties) values = mergeType(schema.additionalProperties, preserve);
  else if (preserve || fields.size === 0) values = deduced;
  return { atomic: schema['x-kubernetes-map-type'] === 'atomic', fields, values };
}

function listType(schema: Schema, preserve: boolean): ListType {
  const items = schema.items ? mergeType(schema.items, preserve) : untyped;
  const names = schema['x-kubernetes-list-map-keys'];
  switch (schema['x-kubernetes-list-type']) {
    case 'set':
      return { kind: 'set', keys: [], items };
    case 'map': {
      if (!Array.isArray(names)) break;
      const keys = names.map(String).map((name) => ({
        name,
        fallback: schema.items?.properties?.[name]?.default,
      }));
      return { kind: 'map', keys, items };
    }
  }
  return { kind: 'atomic', keys: [], items };
}

/** Returns the type of a field; undefined if the schema does not allow it. */
export function fieldType(map: MapType, name: string): MergeType | undefined {
  return map.fields.get(name) ?? map.values;
}
