import type { KindDefinition } from './definition.ts';

const storedVerbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

/** The verbs of a kind. A virtual kind (an access review) has only create and stores nothing. */
export function verbsOf(definition: KindDefinition): readonly string[] {
  return definition.virtual ? ['create'] : storedVerbs;
}

/** The verbs of `/status`. */
export const statusVerbs: readonly string[] = ['get', 'patch', 'update'];

/** True where the kind serves `/status`. */
export function hasStatus(definition: KindDefinition): boolean {
  return definition.status && !definition.virtual;
}

/** `arc.opendefense.cloud/v1alpha1`, or `v1` in the core group. */
export function apiVersionOf(definition: Pick<KindDefinition, 'group' | 'version'>): string {
  return definition.group === '' ? definition.version : `${definition.group}/${definition.version}`;
}

/** The path of a group-version: `/api/v1`, `/apis/group/version`. */
export function rootPath(definition: Pick<KindDefinition, 'group' | 'version'>): string {
  return `${definition.group === '' ? '/api' : '/apis'}/${apiVersionOf(definition)}`;
}
