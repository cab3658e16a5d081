import { namespaces } from '#shared/domain';
import { ArcError } from '#shared/errors';
import type { KubeClient } from '#shared/kube';
import { conduitNamespace } from './identities.ts';

/** The namespaces a user expects to be there: `default`, and the conduit's own. */
export async function ensureNamespaces(api: KubeClient): Promise<void> {
  for (const name of ['default', conduitNamespace]) {
    try {
      await api.create(namespaces, {
        apiVersion: namespaces.apiVersion,
        kind: namespaces.kind,
        metadata: { name },
      });
    } catch (caught) {
      if (!ArcError.is(caught, 'AlreadyExists')) throw caught;
    }
  }
}
