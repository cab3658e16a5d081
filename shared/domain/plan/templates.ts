import type { ArtifactType } from '../kinds/artifact-type.ts';
import type { Order } from '../kinds/order.ts';
import type { Hold } from '../lifecycle/holds.ts';

/** A WorkflowTemplate of the Order's namespace, or a ClusterWorkflowTemplate. */
export type TemplateRef = { name: string; clusterScope?: boolean };

/** True if two references mean the same template, seen from one namespace. */
function sameTemplate(a: TemplateRef, b: TemplateRef): boolean {
  return a.name === b.name && (a.clusterScope === true) === (b.clusterScope === true);
}

/** Returns the template of a type's Workflows. A type of the cluster has no namespace, so its template has none either (as in the peer). */
export function templateOf(type: ArtifactType): TemplateRef {
  const { name, clusterScope } = type.spec.workflowTemplateRef;
  return clusterScope === true || !isNamespaced(type) ? { name, clusterScope: true } : { name };
}

/** Returns the types that Orders of the namespace refer to, by name: a namespaced type shadows that of the cluster. */
export function typesByName(types: readonly ArtifactType[]): Map<string, ArtifactType> {
  // Namespaced types come last, so that they shadow the cluster's.
  const shadowing = [...types].sort((a, b) => Number(isNamespaced(a)) - Number(isNamespaced(b)));
  return new Map(shadowing.map((type) => [type.metadata.name, type]));
}

/** Returns the templates that an Order's artifacts need, deduplicated. */
export function templatesUsed(order: Order, types: readonly ArtifactType[]): TemplateRef[] {
  const known = typesByName(types);
  const used: TemplateRef[] = [];
  for (const name of new Set((order.spec.artifacts ?? []).map(({ type }) => type))) {
    const type = known.get(name);
    const template = type && templateOf(type);
    if (template && !used.some((one) => sameTemplate(one, template))) used.push(template);
  }
  return used;
}

/** Returns a hold if the template of the type does not exist. */
export function missingTemplate(type: ArtifactType, missing: readonly TemplateRef[]): Hold | undefined {
  const template = templateOf(type);
  if (!missing.some((one) => sameTemplate(one, template))) return undefined;
  const kind = template.clusterScope ? 'ClusterWorkflowTemplate' : 'WorkflowTemplate';
  const message = `${kind} "${template.name}" of artifact type "${type.metadata.name}" not found: apply it, or install Argo`;
  return { reason: 'TemplateMissing', message };
}

/** Returns the key of a template, equal for a type's reference and for the template itself. */
export function templateKey(namespace: string | undefined, name: string): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/** Returns the key of the template that a type refers to. */
export function templateKeyOf(type: ArtifactType): string {
  const { name, clusterScope } = templateOf(type);
  return templateKey(clusterScope ? undefined : (type.metadata.namespace ?? ''), name);
}

function isNamespaced(type: ArtifactType): boolean {
  return type.kind !== 'ClusterArtifactType';
}
