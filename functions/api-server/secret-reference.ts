import { ArcError } from '#shared/base/errors';
import { sameJson } from '#shared/base/meta';
import { group, version } from '#shared/domain';
import type { AdmissionPlugin, AdmissionRequest, Authorizer, KubeObject } from '#shared/kubernetes/apiserver';

/**
 * A user who makes the conduit use a Secret needs the right to `get` it, so that none of our kinds is a way to read Secrets (SECURITY.md).
 * This applies to writes of an Endpoint that change secretRef, remoteURL, tls or tokenHosts (another host would get the credentials) and
 * of an ArtifactWorkflow that names Secrets, also while the object is being deleted: it is used until it is gone. Fields that a write
 * leaves alone are not judged, so that nothing blocks a finalizer. Rejects with Forbidden naming the field.
 */
export function secretReferences(authorize: Authorizer): AdmissionPlugin {
  return {
    name: 'SecretReference',
    handles: ({ operation, kind, subResource }) =>
      operation !== 'DELETE' && kind.group === group && subResource === '',
    async validate(request) {
      const { object } = request;
      if (object === undefined) return;
      const used = newSecretUses(request, object);
      if (used.length === 0 || (await isTrusted(authorize, request))) return;
      for (const { field, name } of used) await requireGet(authorize, request, field, name);
    },
  };
}

interface SecretUse {
  field: string;
  name: string;
}

function newSecretUses({ kind, oldObject: old }: AdmissionRequest, object: KubeObject): SecretUse[] {
  if (kind.kind === 'Endpoint') return endpointSecrets(object, old);
  if (kind.kind !== 'ArtifactWorkflow') return [];
  return ['srcSecretRef', 'dstSecretRef'].flatMap((field) => {
    const name = nameAt(object, 'spec', field);
    return name === undefined || name === nameAt(old, 'spec', field)
      ? []
      : [{ field: `spec.${field}.name`, name }];
  });
}

function endpointSecrets(object: KubeObject, old: KubeObject | undefined): SecretUse[] {
  const changed = ['secretRef', 'remoteURL', 'tls', 'tokenHosts'].some(
    (field) => !sameJson(at(object, 'spec', field), at(old, 'spec', field)),
  );
  if (old !== undefined && !changed) return [];
  const credentials = nameAt(object, 'spec', 'secretRef');
  const ca = nameAt(object, 'spec', 'tls', 'caSecretRef');
  return [
    ...(credentials === undefined ? [] : [{ field: 'spec.secretRef.name', name: credentials }]),
    ...(ca === undefined ? [] : [{ field: 'spec.tls.caSecretRef.name', name: ca }]),
  ];
}

/**
 * decompose-order names Secrets in ArtifactWorkflows without the right to read them; the author of the Endpoint had it. It has
 * `create` on artifactworkflows/secretrefs, a name that is used for this right only.
 */
async function isTrusted(
  authorize: Authorizer,
  { kind, user, namespace, name }: AdmissionRequest,
): Promise<boolean> {
  if (kind.kind !== 'ArtifactWorkflow') return false;
  const { allowed } = await authorize(user, {
    isResourceRequest: true,
    verb: 'create',
    group,
    version,
    resource: 'artifactworkflows',
    subresource: 'secretrefs',
    namespace,
    name,
  });
  return allowed;
}

async function requireGet(
  authorize: Authorizer,
  { name: object, namespace, resource, user }: AdmissionRequest,
  field: string,
  name: string,
): Promise<void> {
  const { allowed } = await authorize(user, secretAttributes(namespace, name));
  if (allowed) return;
  throw new ArcError(
    'Forbidden',
    `${resource.resource}.${group} "${object}" is forbidden: ${field}: user "${user.name}" may not get Secret "${name}" in namespace "${namespace}", so the conduit may not use it for them`,
    {
      details: {
        name: object,
        group,
        kind: resource.resource,
        causes: [{ reason: 'FieldValueForbidden', field, message: `no right to get Secret "${name}"` }],
      },
    },
  );
}

function secretAttributes(namespace: string, name: string): Parameters<Authorizer>[1] {
  return {
    isResourceRequest: true,
    verb: 'get',
    group: '',
    version: 'v1',
    resource: 'secrets',
    subresource: '',
    namespace,
    name,
  };
}

function at(value: unknown, ...path: string[]): unknown {
  let current = value;
  for (const field of path) {
    if (typeof current !== 'object' || current === null) return undefined;
    current = (current as Record<string, unknown>)[field];
  }
  return current;
}

function nameAt(value: unknown, ...path: string[]): string | undefined {
  const name = at(value, ...path, 'name');
  return typeof name === 'string' && name !== '' ? name : undefined;
}
