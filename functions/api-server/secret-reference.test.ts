import { describe, expect, it } from 'vitest';
import { group } from '#shared/domain';
import type { AdmissionRequest, Authorizer, KubeObject } from '#shared/kubernetes/apiserver';
import { secretReferences } from './secret-reference.ts';

/** A user who holds exactly these rights, as `verb resource[/subresource] [name]`. */
function rights(...held: string[]): Authorizer {
  return async (_user, attributes) => {
    if (!attributes.isResourceRequest) return { allowed: false };
    const { verb, resource, subresource, name } = attributes;
    const asked = `${verb} ${resource}${subresource === '' ? '' : `/${subresource}`}`;
    return { allowed: held.includes(asked) || held.includes(`${asked} ${name}`) };
  };
}

function object(kind: string, spec: object): KubeObject {
  return {
    apiVersion: 'arc.opendefense.cloud/v1alpha1',
    kind,
    metadata: { name: 'it', namespace: 'team' },
    spec,
  };
}

function request(
  object: KubeObject,
  old?: KubeObject,
  more: Partial<AdmissionRequest> = {},
): AdmissionRequest {
  const [version, kind] = ['v1alpha1', object.kind];
  const resource = kind === 'Endpoint' ? 'endpoints' : 'artifactworkflows';
  const operation = old === undefined ? 'CREATE' : 'UPDATE';
  return {
    operation,
    kind: { group, version, kind },
    resource: { group, version, resource },
    subResource: '',
    namespace: 'team',
    name: object.metadata.name,
    user: { name: 'jo', groups: [] },
    object,
    oldObject: old,
    dryRun: false,
    warn: () => undefined,
    options: { apiVersion: 'meta.k8s.io/v1', kind: 'CreateOptions' },
    ...more,
  };
}

/** Asks the plug-in as the validating stage does. */
async function admit(authorize: Authorizer, asked: AdmissionRequest): Promise<void> {
  const plugin = secretReferences(authorize);
  if (plugin.handles?.(asked)) await plugin.validate?.(asked);
}

const endpoint = { type: 'oci', remoteURL: 'https://a', secretRef: { name: 's' } };

describe('secretReferences', () => {
  it('lets an Endpoint without Secrets pass', async () => {
    const plain = object('Endpoint', { type: 'oci', remoteURL: 'https://a' });
    await admit(rights(), request(plain));
  });

  it('refuses an Endpoint whose Secret the user may not get, naming field and Secret', async () => {
    const admitted = admit(rights(), request(object('Endpoint', endpoint)));
    await expect(admitted).rejects.toMatchObject({
      code: 'Forbidden',
      message: expect.stringContaining(
        'spec.secretRef.name: user "jo" may not get Secret "s" in namespace "team"',
      ),
    });
  });

  it('accepts it with the right to get that Secret', async () => {
    await admit(rights('get secrets s'), request(object('Endpoint', endpoint)));
  });

  it.each([
    ['remoteURL', { ...endpoint, remoteURL: 'https://evil' }],
    ['secretRef', { ...endpoint, secretRef: { name: 'other' } }],
    ['tls', { ...endpoint, tls: { insecureSkipVerify: true } }],
  ])('judges an update that changes %s', async (_field, spec) => {
    const admitted = admit(rights(), request(object('Endpoint', spec), object('Endpoint', endpoint)));
    await expect(admitted).rejects.toMatchObject({ code: 'Forbidden' });
  });

  it('accepts an update that leaves those fields alone', async () => {
    const same = { secretRef: { name: 's' }, remoteURL: 'https://a', type: 'oci', usage: 'All' };
    await admit(rights(), request(object('Endpoint', same), object('Endpoint', endpoint)));
  });

  it('checks the Secret of the CA too', async () => {
    const withCa = object('Endpoint', { ...endpoint, tls: { caSecretRef: { name: 'ca' } } });
    const admitted = admit(rights('get secrets s'), request(withCa));
    await expect(admitted).rejects.toMatchObject({
      message: expect.stringContaining('spec.tls.caSecretRef.name'),
    });
  });

  it('refuses an ArtifactWorkflow by hand that names a Secret out of reach', async () => {
    const made = object('ArtifactWorkflow', { dstSecretRef: { name: 's' } });
    const admitted = admit(rights('create artifactworkflows'), request(made));
    await expect(admitted).rejects.toMatchObject({
      message: expect.stringContaining('spec.dstSecretRef.name'),
    });
  });

  it('lets the holder of artifactworkflows/secretrefs name Secrets it cannot read', async () => {
    const made = object('ArtifactWorkflow', { srcSecretRef: { name: 's' } });
    await admit(rights('create artifactworkflows/secretrefs'), request(made));
  });

  it('gives that holder nothing on Endpoints', async () => {
    const admitted = admit(
      rights('create artifactworkflows/secretrefs'),
      request(object('Endpoint', endpoint)),
    );
    await expect(admitted).rejects.toMatchObject({ code: 'Forbidden' });
  });

  it('judges what is changed while the object is being deleted, and nothing that stays', async () => {
    const made = object('Endpoint', endpoint);
    const ending = structuredClone(made);
    ending.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
    const moved = object('Endpoint', { ...endpoint, remoteURL: 'https://b' });
    moved.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
    await expect(admit(rights(), request(moved, ending))).rejects.toMatchObject({ code: 'Forbidden' });
    const freed = structuredClone(ending);
    freed.metadata.finalizers = [];
    await admit(rights(), request(freed, ending));
  });

  it('needs the right for another host of the token service', async () => {
    const made = object('Endpoint', endpoint);
    const named = object('Endpoint', { ...endpoint, tokenHosts: ['evil.example.com'] });
    await expect(admit(rights(), request(named, made))).rejects.toMatchObject({ code: 'Forbidden' });
  });

  it('judges neither status writes nor deletions', async () => {
    const made = object('Endpoint', endpoint);
    await admit(rights(), request(made, undefined, { subResource: 'status' }));
    await admit(rights(), request(made, made, { operation: 'DELETE', object: undefined }));
  });
});
