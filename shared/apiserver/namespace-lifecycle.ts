import { ArcError } from '#shared/errors';
import type { Store } from '#shared/storage';
import type { AdmissionPlugin, AdmissionRequest, KindDefinition } from './definition.ts';
import { decodeObject, objectKey } from './registry.ts';
import { notFound, qualified } from './status.ts';

const protectedNamespaces = new Set(['default', 'kube-system', 'kube-public']);

/**
 * Refuses what would be created in a namespace that is not there (NotFound) or is being deleted (Forbidden), and the
 * deletion of namespaces the cluster stands on. Undefined where namespaces are not among the kinds served.
 */
export function namespaceLifecycle(
  kinds: readonly KindDefinition[],
  store: Store,
): AdmissionPlugin | undefined {
  const namespaces = kinds.find((kind) => kind.group === '' && kind.plural === 'namespaces');
  if (!namespaces) return undefined;
  return {
    name: 'NamespaceLifecycle',
    async admit(request) {
      const { definition, operation, object, old } = request;
      if (definition === namespaces) return keepProtected(request);
      const namespace = (object ?? old)?.metadata.namespace;
      if (operation !== 'CREATE' || definition.scope === 'Cluster' || namespace === undefined) return;
      const { item } = await store.get(objectKey(namespaces, '', namespace));
      if (!item) throw notFound(namespaces, namespace);
      if (decodeObject(item).metadata.deletionTimestamp !== undefined) throw terminating(request, namespace);
    },
  };
}

function keepProtected({ operation, old }: AdmissionRequest): void {
  const name = old?.metadata.name ?? '';
  if (operation !== 'DELETE' || !protectedNamespaces.has(name)) return;
  const details = { name, kind: 'namespaces' };
  throw new ArcError('Forbidden', `namespaces "${name}" is forbidden: this namespace may not be deleted`, {
    details,
  });
}

function terminating({ definition, object }: AdmissionRequest, namespace: string): ArcError {
  const name = object?.metadata.name ?? '';
  const resource = qualified(definition.plural, definition.group);
  const message = `${resource} "${name}" is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`;
  const cause = {
    reason: 'NamespaceTerminating',
    message: `namespace ${namespace} is being terminated`,
    field: 'metadata.namespace',
  };
  const { group, plural } = definition;
  return new ArcError('Forbidden', message, {
    details: { name, ...(group && { group }), kind: plural, causes: [cause] },
  });
}
