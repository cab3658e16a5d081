import {
  conduitNamespace,
  group,
  namespaceLimits,
  type Settings,
  settingsName,
  writeRateLimit,
} from '#shared/domain';
import type { QuotaOptions } from '#shared/kubernetes/apiserver';
import type { ClusterQuotas } from './cluster-quotas.ts';

/**
 * What a namespace may hold of our kinds: by the operator's settings, or our own limits where they say nothing, and by the ResourceQuotas of
 * the cluster. ARC's own accounts may make an object larger: finalizers, notes and policies that follow an Order are theirs.
 */
export function namespaceQuota(settings: () => Settings, cluster?: ClusterQuotas): QuotaOptions {
  return {
    group,
    limitsOf: (namespace, plural) => [
      ...namespaceLimits(plural, settings()).map(({ measure, hard, setting }) => ({
        quota: settingsName,
        resource: `${measure === 'objects' ? 'count' : 'bytes'}/${plural}.${group}`,
        measure,
        hard,
        source: by(setting),
      })),
      ...(cluster?.limitsOf(namespace, plural) ?? []),
    ],
    writeRate() {
      const { perMinute, setting } = writeRateLimit(settings());
      return { perMinute, source: by(setting) };
    },
    isExempt: ({ name }) => name.startsWith(`system:serviceaccount:${conduitNamespace}:`),
  };
}

const by = (setting: string) => `${setting} of the operator's settings`;
