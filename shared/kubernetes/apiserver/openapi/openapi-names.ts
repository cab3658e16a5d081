import type { KindDefinition } from '../kinds/definition.ts';

type Named = Pick<KindDefinition, 'group' | 'version'>;

/**
 * Returns the prefix of definition names: the reversed group (`cloud.opendefense.arc.v1alpha1`), or for groups of Kubernetes the Go package
 * (`io.k8s.api.core.v1`), which code generators expect.
 */
export function definitionPrefix({ group, version }: Named): string {
  if (group === '') return `io.k8s.api.core.${version}`;
  if (group.endsWith('.k8s.io')) return `io.k8s.api.${group.split('.')[0]}.${version}`;
  return [...group.split('.').reverse(), version].join('.');
}

export function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function camelCase(group: string): string {
  return group === '' ? 'core' : group.split(/[.-]/).map(capital).join('');
}

/** Returns a unique operation ID, such as `listArcOpendefenseCloudV1alpha1NamespacedOrder`. */
export function operationId(action: string, definition: Named, scope: string, subject: string): string {
  return `${action}${capital(camelCase(definition.group))}${capital(definition.version)}${scope}${subject}`;
}

/** Returns the tag that groups the operations of a group version. */
export function operationTag({ group, version }: Named): string {
  const name = camelCase(group);
  return `${name.charAt(0).toLowerCase()}${name.slice(1)}_${version}`;
}
