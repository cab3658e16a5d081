import path from 'node:path';
import { type Manifest, withComponent } from '#shared/local';

/** Features that can be disabled: each has a component `no-<name>` in knative/components. */
export const optionalFeatures = ['cron', 'ttl', 'probes', 'log-tail', 'domain-events'] as const;
export type OptionalFeature = (typeof optionalFeatures)[number];

const components = path.resolve(import.meta.dirname, '../../knative/components');

/** Returns the manifests without the functions, Triggers and permissions of disabled features. */
export async function withoutFeatures(
  manifests: readonly Manifest[],
  without: readonly OptionalFeature[],
): Promise<readonly Manifest[]> {
  let left = manifests;
  for (const name of new Set(without)) left = await withComponent(left, path.join(components, `no-${name}`));
  return left;
}

/** True if a function of that name is among the manifests. */
export function isInstalled(manifests: readonly Manifest[], name: string): boolean {
  return manifests.some(
    ({ apiVersion, metadata }) => apiVersion === 'serving.knative.dev/v1' && metadata.name === name,
  );
}
