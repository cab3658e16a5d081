import { createHash } from 'node:crypto';
import { parseAccept } from '../codec/negotiate.ts';
import type { KindDefinition } from '../kinds/definition.ts';
import type { ServedGroup, ServedVersion } from '../kinds/served-kinds.ts';
import { subresourcesOf, verbsOf } from '../kinds/served-kinds.ts';

/** The hash by which storage migrators detect a change of the storage version: base64 of the first 8 bytes of SHA-256. */
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

/** Returns the metav1.APIResourceList of a group version. */
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

/** Returns the metav1.APIGroup for /apis/<group>. */
export function apiGroup(group: ServedGroup): object {
  return { kind: 'APIGroup', apiVersion: 'v1', ...groupFields(group) };
}

/** Returns the metav1.APIGroupList for /apis: every group except core. */
export function apiGroupList(groups: readonly ServedGroup[]): object {
  return {
    kind: 'APIGroupList',
    apiVersion: 'v1',
    groups: groups.filter((group) => group.name !== '').map(groupFields),
  };
}

/** Returns the metav1.APIVersions for /api: the served versions of core. */
export function apiVersions(groups: readonly ServedGroup[], serverAddress: string): object {
  const core = groups.find((group) => group.name === '');
  return {
    kind: 'APIVersions',
    versions: core?.versions.map((served) => served.version) ?? [],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  };
}

/** The aggregator compares this string by equality: the order of parameters and spacing matter. */
export const aggregatedType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

function resource(definition: KindDefinition): object {
  const { group, version, kind, shortNames = [], categories = [] } = definition;
  const responseKind = { group, version, kind };
  const parts = subresourcesOf(definition).map(({ name, verbs }) => ({
    subresource: name,
    responseKind,
    verbs,
  }));
  return {
    resource: definition.plural,
    responseKind,
    scope: definition.scope === 'Namespaced' ? 'Namespaced' : 'Cluster',
    singularResource: definition.singular,
    verbs: verbsOf(definition),
    ...(shortNames.length > 0 ? { shortNames } : {}),
    ...(categories.length > 0 ? { categories } : {}),
    ...(parts.length > 0 ? { subresources: parts } : {}),
  };
}

/** Returns the apidiscovery.k8s.io/v2 APIGroupDiscoveryList: groups, versions, resources and subresources in one document. */
export function groupDiscoveryList(groups: readonly ServedGroup[]): object {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: groups.map((group) => ({
      metadata: { ...(group.name === '' ? {} : { name: group.name }), creationTimestamp: null },
      versions: group.versions.map((served) => ({
        version: served.version,
        resources: served.kinds.map(resource),
        freshness: 'Current',
      })),
    })),
  };
}

/**
 * Tells whether a client prefers aggregated discovery v2 among the supported media types. Ignores v2beta1, which was removed in 1.33;
 * clients fall back to JSON.
 */
export function wantsAggregated(accept: string | null | undefined): boolean {
  for (const { type, parameters } of parseAccept(accept)) {
    if (type !== 'application/json' && type !== 'application/*' && type !== '*/*') continue;
    if (!parameters.has('as')) return false;
    const requested = ['g', 'v', 'as'].map((name) => parameters.get(name)).join(' ');
    if (requested === 'apidiscovery.k8s.io v2 APIGroupDiscoveryList') return true;
  }
  return false;
}
