import type { KubeObject } from '#shared/base/meta';
import { parseManifests } from '../core/manifests.ts';
import { shippedText } from '../core/shipped.ts';

const files = [
  'knative/tenant/function-rights.yaml',
  'knative/tenant/workflow-account.yaml',
  'knative/tenant/egress.yaml',
] as const;

/** Returns the objects of knative/tenant for a namespace. */
export async function tenantObjects(namespace: string): Promise<KubeObject[]> {
  const found = await Promise.all(files.map((file) => parseManifests(shippedText(file), file)));
  return found.flat().map((object) => ({ ...object, metadata: { ...object.metadata, namespace } }));
}
