import path from 'node:path';
import { type Manifest, withComponent } from '#shared/local';

/** Features that can be disabled: each has a component `no-<name>` in knative/components. */
export const switches = ['cron', 'ttl', 'probes', 'log-tail', 'domain-events'] as const;
export type Switch = (typeof switches)[number];

const components = path.resolve(import.meta.dirname, '../../knative/components');

/** Returns the manifests without the functions, Triggers and permissions of disabled features. */
export async function switchedOff(
  manifests: readonly Manifest[],
  without: readonly Switch[],
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
