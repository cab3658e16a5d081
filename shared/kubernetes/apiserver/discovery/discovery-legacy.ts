import { createHash } from 'node:crypto';
import type { KindDefinition } from '../kinds/definition.ts';
import type { ServedGroup, ServedVersion } from '../kinds/served-groups.ts';
import { subresourcesOf, verbsOf } from '../kinds/verbs.ts';

/** The hash by which storage migrators recognise a stored encoding: base64 of the first 8 bytes of SHA-256. */
function storageVersionHash({ group, version, kind }: KindDefinition): string {
  return createHash('sha256')
    .update(`${group}/${version}/${kind}`)
    .digest()
    .subarray(0, 8)
    .toString('base64');
}

function resources(definition: KindDefinition): object[] {
  const { plural, singular, kind, shortNames = [], categories = [] } = definition;
  const namespaced = definition.scope === 'Namespaced';
  const main = {
    name: plural,
    singularName: singular,
    namespaced,
    kind,
    verbs: verbsOf(definition),
    ...(shortNames.length > 0 ? { shortNames } : {}),
    ...(categories.length > 0 ? { categories } : {}),
    ...(definition.virtual ? {} : { storageVersionHash: storageVersionHash(definition) }),
  };
  const parts = subresourcesOf(definition).map(({ name, verbs }) => ({
    name: `${plural}/${name}`,
    singularName: '',
    namespaced,
    kind,
    verbs,
  }));
  return [main, ...parts];
}

/** metav1.APIResourceList of one group-version. */
export function resourceList(served: ServedVersion): object {
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: served.groupVersion,
    resources: served.kinds.flatMap(resources),
  };
}

function groupFields(group: ServedGroup): object {
  const versions = group.versions.map(({ groupVersion, version }) => ({ groupVersion, version }));
  return { name: group.name, versions, preferredVersion: versions[0] };
}

/** metav1.APIGroup, the answer to /apis/<group>. */
export function apiGroup(group: ServedGroup): object {
  return { kind: 'APIGroup', apiVersion: 'v1', ...groupFields(group) };
}

/** metav1.APIGroupList, the answer to /apis: every group but core. */
export function apiGroupList(groups: readonly ServedGroup[]): object {
  return {
    kind: 'APIGroupList',
    apiVersion: 'v1',
    groups: groups.filter((group) => group.name !== '').map(groupFields),
  };
}

/** metav1.APIVersions, the answer to /api: the versions of core, none when core is not served. */
export function apiVersions(groups: readonly ServedGroup[], serverAddress: string): object {
  const core = groups.find((group) => group.name === '');
  return {
    kind: 'APIVersions',
    versions: core?.versions.map((served) => served.version) ?? [],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  };
}
