import { parseAccept } from '../codec/accept.ts';
import type { KindDefinition } from '../kinds/definition.ts';
import type { ServedGroup } from '../kinds/served-groups.ts';
import { subresourcesOf, verbsOf } from '../kinds/verbs.ts';

/** The aggregator compares this string by equality: parameters in this order, no blanks. */
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

/** apidiscovery.k8s.io/v2 APIGroupDiscoveryList: groups, versions, resources and subresources in one answer. */
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
 * True when the entry a client prefers among those we can answer asks for aggregated discovery v2. v2beta1 is passed
 * over: servers since 1.33 no longer have it, and clients name JSON after it.
 */
export function wantsAggregated(accept: string | null | undefined): boolean {
  for (const { type, parameters } of parseAccept(accept)) {
    if (type !== 'application/json' && type !== 'application/*' && type !== '*/*') continue;
    if (!parameters.has('as')) return false;
    const asked = ['g', 'v', 'as'].map((name) => parameters.get(name)).join(' ');
    if (asked === 'apidiscovery.k8s.io v2 APIGroupDiscoveryList') return true;
  }
  return false;
}
