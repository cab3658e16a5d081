import type { ArtifactType } from '../kinds/artifact-type.ts';
import type { Order } from '../kinds/order.ts';
import type { Hold } from '../lifecycle/holds.ts';

/** A WorkflowTemplate of the Order's namespace, or a ClusterWorkflowTemplate. */
export type TemplateRef = { name: string; clusterScope?: boolean };

/** Whether two references mean the same template, seen from one namespace. */
function sameTemplate(a: TemplateRef, b: TemplateRef): boolean {
  return a.name === b.name && (a.clusterScope === true) === (b.clusterScope === true);
}

/** Where a type's Workflows take their steps from. A type of the cluster knows no namespace to look in (as in the peer). */
export function templateOf(type: ArtifactType): TemplateRef {
  const { name, clusterScope } = type.spec.workflowTemplateRef;
  return clusterScope === true || !isNamespaced(type) ? { name, clusterScope: true } : { name };
}

/** The types that an Order of the namespace means by name: a namespaced one shadows that of the cluster. */
export function typesByName(types: readonly ArtifactType[]): Map<string, ArtifactType> {
  // Namespaced types come last, so that they shadow the cluster's.
  const shadowing = [...types].sort((a, b) => Number(isNamespaced(a)) - Number(isNamespaced(b)));
  return new Map(shadowing.map((type) => [type.metadata.name, type]));
}

/** The templates that an Order's artifacts need, each once. */
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

/** Set where an artifact of the type cannot be run: the template it needs is not there. */
export function missingTemplate(type: ArtifactType, missing: readonly TemplateRef[]): Hold | undefined {
  const template = templateOf(type);
  if (!missing.some((one) => sameTemplate(one, template))) return undefined;
  const kind = template.clusterScope ? 'ClusterWorkflowTemplate' : 'WorkflowTemplate';
  const message = `${kind} "${template.name}" of artifact type "${type.metadata.name}" not found: apply it, or install Argo`;
  return { reason: 'TemplateMissing', message };
}

/** Keys for a template as it is named by a type, or by itself: equal where they mean the same one. */
export function templateKey(namespace: string | undefined, name: string): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/** The key of the template that a type refers to. */
export function templateKeyOf(type: ArtifactType): string {
  const { name, clusterScope } = templateOf(type);
  return templateKey(clusterScope ? undefined : (type.metadata.namespace ?? ''), name);
}

function isNamespaced(type: ArtifactType): boolean {
  return type.kind !== 'ClusterArtifactType';
}
