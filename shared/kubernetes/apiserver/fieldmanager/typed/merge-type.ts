import type { KindDefinition } from '../../kinds/definition.ts';
import { objectSchema } from '../../openapi/kind-schema.ts';
import type { Schema } from '../../openapi/schema.ts';

/** The type at a path for merging and ownership. Several of the three when the schema leaves it open. */
export interface MergeType {
  scalar?: 'string' | 'numeric' | 'boolean' | 'untyped';
  list?: ListType;
  map?: MapType;
}

export interface ListType {
  /** An atomic list has one owner and is replaced as a whole; the items of the others are owned one by one. */
  kind: 'atomic' | 'set' | 'map';
  /** Of kind `map`: the key fields of items, with their defaults. */
  keys: readonly { name: string; fallback: unknown }[];
  items: MergeType;
}

export interface MapType {
  atomic: boolean;
  fields: ReadonlyMap<string, MergeType>;
  /** The type of keys that are not declared fields; undefined when there are none. */
  values: MergeType | undefined;
}

const untyped: MergeType = { scalar: 'untyped' };
untyped.list = { kind: 'atomic', keys: [], items: untyped };
untyped.map = { atomic: true, fields: new Map(), values: untyped };

/** Without a schema, maps merge by key and lists are one value. */
const deduced: MergeType = { scalar: 'untyped', list: { kind: 'atomic', keys: [], items: untyped } };
deduced.map = { atomic: false, fields: new Map(), values: deduced };

const types = new WeakMap<KindDefinition, MergeType>();

/** The type of whole objects of a kind, metadata included. Made once per definition. */
export function mergeTypeOf(definition: KindDefinition): MergeType {
  let type = types.get(definition);
  if (!type) {
    type = mergeType(objectSchema(definition));
    types.set(definition, type);
  }
  return type;
}

/** From the structural schema, by the rules of k8s.io/kube-openapi schemaconv. */
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

/** The type of a field of a map; undefined when the schema has no such field. */
export function fieldType(map: MapType, name: string): MergeType | undefined {
  return map.fields.get(name) ?? map.values;
}
