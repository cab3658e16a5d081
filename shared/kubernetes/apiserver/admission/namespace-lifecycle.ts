import { ArcError } from '#shared/base/errors';
import { notFound, qualified } from '../errors/api-errors.ts';
import type { AdmissionPlugin, AdmissionRequest } from './plugin.ts';

const protectedNamespaces = new Set(['default', 'kube-system', 'kube-public']);

/** Finds a namespace by name, in this or another API server; undefined if it does not exist. */
export type FindNamespace = (
  name: string,
) => Promise<{ metadata: { deletionTimestamp?: string } } | undefined>;

/**
 * Rejects creates in a namespace that does not exist (NotFound) or is being deleted (Forbidden), and deletes of system namespaces.
 */
export function namespaceLifecycle(find: FindNamespace): AdmissionPlugin {
  return {
    name: 'NamespaceLifecycle',
    handles: ({ operation, kind, subResource }) =>
      (operation === 'CREATE' && subResource === '') ||
      (operation === 'DELETE' && kind.group === '' && kind.kind === 'Namespace'),
    // In the mutating stage, before validation, as in kube-apiserver.
    async mutate(request) {
      const { operation, namespace: name, resource } = request;
      if (resource.group === '' && resource.resource === 'namespaces') rejectProtected(request);
      if (operation !== 'CREATE' || name === '') return undefined;
      const namespace = await find(name);
      if (!namespace) throw notFound({ group: '', plural: 'namespaces' }, name);
      if (namespace.metadata.deletionTimestamp !== undefined) throw terminating(request);
      return undefined;
    },
  };
}

function rejectProtected({ operation, name }: AdmissionRequest): void {
  if (operation !== 'DELETE' || !protectedNamespaces.has(name)) return;
  const details = { name, kind: 'namespaces' };
  throw new ArcError('Forbidden', `namespaces "${name}" is forbidden: this namespace may not be deleted`, {
    details,
  });
}

function terminating({ resource, name, namespace }: AdmissionRequest): ArcError {
  const { group, resource: plural } = resource;
  const message = `${qualified(plural, group)} "${name}" is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`;
  const cause = {
    reason: 'NamespaceTerminating',
    message: `namespace ${namespace} is being terminated`,
    field: 'metadata.namespace',
  };
  return new ArcError('Forbidden', message, {
    details: { name, ...(group && { group }), kind: plural, causes: [cause] },
  });
}
