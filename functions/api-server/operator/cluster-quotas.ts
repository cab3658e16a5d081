import { ArcError } from '#shared/base/errors';
import type { KubeObject } from '#shared/base/meta';
import type { Logger } from '#shared/base/telemetry';
import { arcKinds, group, parseQuantity } from '#shared/domain';
import type { HardLimit } from '#shared/kubernetes/apiserver';
import { type Kind, type KubeClient, listWatch } from '#shared/kubernetes/client';

/** A ResourceQuota as far as it limits our kinds. */
export interface ResourceQuota extends KubeObject {
  spec?: { hard?: Record<string, string>; scopes?: readonly string[]; scopeSelector?: object };
}

const resourceQuotas: Kind<ResourceQuota> = {
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  plural: 'resourcequotas',
  namespaced: true,
};

export interface ClusterQuotas {
  /** The limits for one of our kinds in a namespace. Throws ServiceUnavailable until the quotas have been listed. */
  limitsOf(namespace: string, plural: string): readonly HardLimit[];
  /** Sentences for /readyz?verbose. */
  notices(): readonly string[];
  /** As `limitsOf`. */
  check(): void;
}

/**
 * Follows the ResourceQuotas of the cluster that limit the number of objects of our kinds. kube-apiserver applies quotas to what it stores
 * itself, so this server applies them to its own. It counts by itself: `status.used` is the quota controller's, which finds our kinds by
 * discovery and counts them when objects are deleted, when the quota changes, and every five minutes.
 */
export function followClusterQuotas(options: {
  client: KubeClient;
  log: Logger;
  signal: AbortSignal;
}): ClusterQuotas {
  const { client, log, signal } = options;
  /** By namespace and name. Of quotas that limit none of our kinds nothing is kept. */
  const kept = new Map<string, Map<string, readonly HardLimit[]>>();
  let refused: 'Forbidden' | 'NotFound' | undefined;
  const set = (namespace: string, name: string, limits: readonly HardLimit[] | undefined) => {
    const quotas = kept.get(namespace) ?? new Map<string, readonly HardLimit[]>();
    if (limits === undefined) quotas.delete(name);
    else quotas.set(name, limits);
    if (quotas.size === 0) kept.delete(namespace);
    else kept.set(namespace, quotas);
  };
  const loop = listWatch<ResourceQuota, { namespace: string; name: string }>(
    client,
    resourceQuotas,
    {
      keep: (quota) => (hardLimits(quota).length === 0 ? undefined : placeOf(quota)),
      onChange({ before, after }) {
        if (before) set(before.namespace, before.name, undefined);
        if (!after) return;
        const limits = hardLimits(after);
        const { namespace, name } = placeOf(after);
        set(namespace, name, limits.length === 0 ? undefined : limits);
      },
      onSync() {
        refused = undefined;
      },
      onFailure(error) {
        refused = (['Forbidden', 'NotFound'] as const).find((code) => ArcError.is(error, code));
        log.warn({ err: error }, 'cannot read ResourceQuotas yet');
      },
    },
    { signal },
  );
  loop.done.catch((caught: unknown) =>
    log.error({ err: ArcError.from(caught) }, 'stopped following ResourceQuotas'),
  );
  const check = () => {
    if (!loop.synced && !refused) throw new ArcError('ServiceUnavailable', 'not read yet: ResourceQuotas');
  };
  return {
    check,
    limitsOf(namespace, plural) {
      check();
      const resource = resourceOf(plural);
      return [...(kept.get(namespace)?.values() ?? [])].flat().filter((limit) => limit.resource === resource);
    },
    notices: () =>
      refused === 'Forbidden' ? ['no right to list resourcequotas: they are not applied to our kinds'] : [],
  };
}

const resourceOf = (plural: string) => `count/${plural}.${group}`;
const resources = new Set(
  arcKinds.filter(({ scope }) => scope === 'Namespaced').map(({ plural }) => resourceOf(plural)),
);

function placeOf({ metadata: { namespace = '', name } }: ResourceQuota): { namespace: string; name: string } {
  return { namespace, name };
}

/** The limits of a quota for our kinds. As in Kubernetes, a quota with scopes counts no objects of them: no scope is defined for those. */
function hardLimits({ metadata: { name }, spec = {} }: ResourceQuota): HardLimit[] {
  const { hard = {}, scopes = [], scopeSelector } = spec;
  if (scopes.length > 0 || scopeSelector !== undefined) return [];
  return Object.entries(hard).flatMap(([resource, quantity]) => {
    const limit = resources.has(resource) ? parseQuantity(quantity) : undefined;
    return limit === undefined ? [] : [{ quota: name, resource, measure: 'objects' as const, hard: limit }];
  });
}
