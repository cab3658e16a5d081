import type { KindDefinition } from '../kinds/definition.ts';
import { kindSchema } from './kind-schema.ts';
import { metaPrefix, metaSchemas, typeFields } from './meta-schemas.ts';
import { definitionPrefix } from './openapi-names.ts';
import type { GroupVersionKind, Schema } from './schema.ts';

function metaReference(name: string, description: string): Schema {
  return { allOf: [{ $ref: `#/components/schemas/${metaPrefix}.${name}` }], default: {}, description };
}

function objectDefinition(definition: KindDefinition, gvk: GroupVersionKind): Schema {
  const fields = kindSchema(definition);
  return {
    ...fields,
    description: definition.description,
    properties: {
      ...typeFields,
      metadata: metaReference('ObjectMeta', 'Standard object metadata: name, namespace, labels and more.'),
      ...fields.properties,
    },
    'x-kubernetes-group-version-kind': [gvk],
    ...(definition.selectableFields
      ? {
          'x-kubernetes-selectable-fields': Object.keys(definition.selectableFields).map((fieldPath) => ({
            fieldPath,
          })),
        }
      : {}),
  };
}

function listDefinition(definition: KindDefinition, name: string, gvk: GroupVersionKind): Schema {
  return {
    type: 'object',
    description: `A list of ${definition.kind} objects.`,
    required: ['items'],
    properties: {
      ...typeFields,
      items: {
        type: 'array',
        items: { allOf: [{ $ref: `#/components/schemas/${name}` }], default: {} },
        description: 'The objects.',
      },
      metadata: metaReference('ListMeta', 'Standard list metadata.'),
    },
    'x-kubernetes-group-version-kind': [gvk],
  };
}

/** DeleteOptions and WatchEvent are registered in the group versions of all served kinds. */
function metaDefinitions(kinds: readonly KindDefinition[]): [string, Schema][] {
  const versions = new Map(kinds.map(({ group, version }) => [`${group}/${version}`, { group, version }]));
  versions.set('/v1', { group: '', version: 'v1' });
  const everywhere = (kind: string) => ({
    'x-kubernetes-group-version-kind': [...versions.values()].map((gv) => ({ ...gv, kind })),
  });
  const extra: Readonly<Record<string, object>> = {
    DeleteOptions: everywhere('DeleteOptions'),
    WatchEvent: everywhere('WatchEvent'),
    Status: { 'x-kubernetes-group-version-kind': [{ group: '', version: 'v1', kind: 'Status' }] },
  };
  return Object.entries(metaSchemas).map(([name, schema]) => [
    `${metaPrefix}.${name}`,
    { ...schema, ...extra[name] },
  ]);
}

/** Returns all definitions that the documents of these kinds refer to, by name, in OpenAPI v3 format. */
export function definitionsOf(kinds: readonly KindDefinition[]): Record<string, Schema> {
  const ofKinds = kinds.flatMap((definition): [string, Schema][] => {
    const { group, version, kind } = definition;
    const name = `${definitionPrefix(definition)}.${kind}`;
    const object: [string, Schema] = [name, objectDefinition(definition, { group, version, kind })];
    if (definition.virtual) return [object];
    return [
      object,
      [`${name}List`, listDefinition(definition, name, { group, version, kind: `${kind}List` })],
    ];
  });
  const all = [...ofKinds, ...metaDefinitions(kinds)];
  return Object.fromEntries(all.sort(([a], [b]) => (a < b ? -1 : 1)));
}
