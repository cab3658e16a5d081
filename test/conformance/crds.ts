import type { KindDefinition } from '#shared/kubernetes/apiserver';

type Json = Record<string, unknown>;

/** Where the reference finds what our column shows. A column we compute has the field that comes nearest. */
const paths: Readonly<Record<string, string>> = {
  'Order/Artifacts': '.status.counts.total',
  'Order/Succeeded': '.status.counts.succeeded',
  'Order/Failed': '.status.counts.failed',
  'Order/Running': '.status.counts.running',
  'ArtifactType/Workflow': '.spec.workflowTemplateRef.name',
  'ArtifactType/Parameters': '.spec.parameters',
  'ClusterArtifactType/Workflow': '.spec.workflowTemplateRef.name',
  'ClusterArtifactType/Parameters': '.spec.parameters',
  'ArtifactWorkflow/Type': '.spec.type',
  'ArtifactWorkflow/Digest': '.status.results.digest',
  'Endpoint/Type': '.spec.type',
  'Endpoint/URL': '.spec.remoteURL',
  'Endpoint/Usage': '.spec.usage',
  'Endpoint/Secret': '.spec.secretRef.name',
  'Endpoint/Ready': '.status.conditions[?(@.type=="Ready")].status',
  'Endpoint/Message': '.status.conditions[?(@.type=="Ready")].message',
};

/** The CustomResourceDefinition that makes kube-apiserver serve a kind of ours, given our OpenAPI v3 schema of it. */
export function crdOf(definition: KindDefinition, schema: Json, group: string): Json {
  const { plural, singular, kind, shortNames = [], categories = [], scope, version } = definition;
  const properties = { ...(schema.properties as Json) };
  for (const field of ['apiVersion', 'kind', 'metadata']) delete properties[field];
  const columns = definition.columns.map(({ name, type, description, priority = 0 }) => {
    const jsonPath = name === 'Age' ? '.metadata.creationTimestamp' : paths[`${kind}/${name}`];
    return { name, type, description, priority, jsonPath: jsonPath ?? `.status.${name.toLowerCase()}` };
  });
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: { plural, singular, kind, listKind: `${kind}List`, shortNames, categories },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: structural({ ...schema, properties }) },
          ...(definition.status ? { subresources: { status: {} } } : {}),
          additionalPrinterColumns: columns,
          ...(definition.selectableFields
            ? {
                selectableFields: Object.keys(definition.selectableFields).map((jsonPath) => ({
                  jsonPath: `.${jsonPath}`,
                })),
              }
            : {}),
        },
      ],
    },
  };
}

/** Keywords a CRD refuses: what names types of the document, and what only built-in kinds may say. */
const refused = new Set([
  'x-kubernetes-group-version-kind',
  'x-kubernetes-selectable-fields',
  'uniqueItems',
  '$ref',
  'title',
]);
const refusedPrefix = 'x-kubernetes-patch-';

/** An OpenAPI v3 schema as a CRD accepts it. Names of properties are never taken for keywords. */
export function structural(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(structural);
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([keyword]) => !refused.has(keyword) && !keyword.startsWith(refusedPrefix))
      .map(([keyword, value]) => [keyword, structuralKeyword(keyword, value)]),
  );
}

function structuralKeyword(keyword: string, value: unknown): unknown {
  if (keyword === 'default' || keyword === 'enum' || keyword === 'required') return value;
  if (keyword !== 'properties') return structural(value);
  return Object.fromEntries(Object.entries(value as Json).map(([name, field]) => [name, structural(field)]));
}
