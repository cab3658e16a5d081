import type { KindDefinition } from '../kinds/definition.ts';

type Named = Pick<KindDefinition, 'group' | 'version'>;

/**
 * The prefix of definition names: the group backwards (`cloud.opendefense.arc.v1alpha1`), and for Kubernetes' own groups
 * the Go package (`io.k8s.api.core.v1`), which generators expect.
 */
export function definitionPrefix({ group, version }: Named): string {
  if (group === '') return `io.k8s.api.core.${version}`;
  if (group.endsWith('.k8s.io')) return `io.k8s.api.${group.split('.')[0]}.${version}`;
  return [...group.split('.').reverse(), version].join('.');
}

export function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function words(group: string): string {
  return group === '' ? 'core' : group.split(/[.-]/).map(capital).join('');
}

/** `listArcOpendefenseCloudV1alpha1NamespacedOrder`: unique among all operations of a server. */
export function operationId(action: string, definition: Named, scope: string, subject: string): string {
  return `${action}${capital(words(definition.group))}${capital(definition.version)}${scope}${subject}`;
}

/** The tag by which operations are grouped. */
export function operationTag({ group, version }: Named): string {
  const name = words(group);
  return `${name.charAt(0).toLowerCase()}${name.slice(1)}_${version}`;
}
