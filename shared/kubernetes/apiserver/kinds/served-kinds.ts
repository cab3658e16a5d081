import type { KindDefinition } from './definition.ts';

const storedVerbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

/** Returns the verbs of a kind. A virtual kind (an access review) has only create. */
export function verbsOf(definition: KindDefinition): readonly string[] {
  return definition.virtual ? ['create'] : storedVerbs;
}

/** Tells whether the kind serves `/status`. */
export function hasStatus(definition: KindDefinition): boolean {
  return definition.status && !definition.virtual;
}

/** Returns the subresources of a kind with their verbs: `status`, actions and texts. */
export function subresourcesOf(definition: KindDefinition): { name: string; verbs: readonly string[] }[] {
  const actions = definition.virtual ? [] : (definition.actions ?? []);
  return [
    ...(hasStatus(definition) ? [{ name: 'status', verbs: ['get', 'patch', 'update'] }] : []),
    ...actions.map(({ name }) => ({ name, verbs: ['create'] })),
    ...(definition.texts ?? []).map(({ name }) => ({ name, verbs: ['get'] })),
  ];
}

/** Returns the apiVersion: `arc.opendefense.cloud/v1alpha1`, or `v1` for the core group. */
export function apiVersionOf(definition: Pick<KindDefinition, 'group' | 'version'>): string {
  return definition.group === '' ? definition.version : `${definition.group}/${definition.version}`;
}

/** Returns the path of a group version: `/api/v1` or `/apis/group/version`. */
export function rootPath(definition: Pick<KindDefinition, 'group' | 'version'>): string {
  return `${definition.group === '' ? '/api' : '/apis'}/${apiVersionOf(definition)}`;
}

/** The kinds of a group version. */
export interface ServedVersion {
  group: string;
  version: string;
  /** `v1` or `group/version`. */
  groupVersion: string;
  kinds: readonly KindDefinition[];
}

/** A group with its versions in order of declaration. The first version is preferred. */
export interface ServedGroup {
  /** '' for core. */
  name: string;
  versions: readonly ServedVersion[];
}

/** Groups definitions by group and version, in order of first definition; sorts kinds by plural name. */
export function catalogue(kinds: readonly KindDefinition[]): ServedGroup[] {
  return [...Map.groupBy(kinds, (kind) => kind.group)].map(([name, ofGroup]) => ({
    name,
    versions: [...Map.groupBy(ofGroup, (kind) => kind.version)].map(([version, ofVersion]) => ({
      group: name,
      version,
      groupVersion: apiVersionOf({ group: name, version }),
      kinds: ofVersion.toSorted((a, b) => (a.plural < b.plural ? -1 : 1)),
    })),
  }));
}
