import { describe, expect, it } from 'vitest';
import type { AdmissionRequest, Authorizer, KindDefinition, KubeObject } from '#shared/apiserver';
import { secretReferences } from './secret-reference.ts';

/** A user who holds exactly these rights, as `verb plural[/subresource] [name]`. */
function rights(...held: string[]): Authorizer {
  return async (_user, attributes) => {
    if (!attributes.resource) return { allowed: false };
    const { verb, plural, subresource, name } = attributes;
    const asked = `${verb} ${plural}${subresource === '' ? '' : `/${subresource}`}`;
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
  const definition = {
    group: 'arc.opendefense.cloud',
    kind: object.kind,
    plural: object.kind === 'Endpoint' ? 'endpoints' : 'artifactworkflows',
  } as KindDefinition;
  return {
    operation: old === undefined ? 'CREATE' : 'UPDATE',
    user: { name: 'jo', groups: [] },
    definition,
    subresource: '',
    object,
    old,
    dryRun: false,
    ...more,
  };
}

const endpoint = { type: 'oci', remoteURL: 'https://a', secretRef: { name: 's' } };

describe('secretReferences', () => {
  it('lets an Endpoint without Secrets pass', async () => {
    const plain = object('Endpoint', { type: 'oci', remoteURL: 'https://a' });
    await secretReferences(rights()).admit(request(plain));
  });

  it('refuses an Endpoint whose Secret the user may not get, naming field and Secret', async () => {
    const admitted = secretReferences(rights()).admit(request(object('Endpoint', endpoint)));
    await expect(admitted).rejects.toMatchObject({
      code: 'Forbidden',
      message: expect.stringContaining(
        'spec.secretRef.name: user "jo" may not get Secret "s" in namespace "team"',
      ),
    });
  });

  it('accepts it with the right to get that Secret', async () => {
    await secretReferences(rights('get secrets s')).admit(request(object('Endpoint', endpoint)));
  });

  it.each([
    ['remoteURL', { ...endpoint, remoteURL: 'https://evil' }],
    ['secretRef', { ...endpoint, secretRef: { name: 'other' } }],
    ['tls', { ...endpoint, tls: { insecureSkipVerify: true } }],
  ])('judges an update that changes %s', async (_field, spec) => {
    const admitted = secretReferences(rights()).admit(
      request(object('Endpoint', spec), object('Endpoint', endpoint)),
    );
    await expect(admitted).rejects.toMatchObject({ code: 'Forbidden' });
  });

  it('does not judge an update that leaves those fields alone', async () => {
    const same = { secretRef: { name: 's' }, remoteURL: 'https://a', type: 'oci', usage: 'All' };
    await secretReferences(rights()).admit(request(object('Endpoint', same), object('Endpoint', endpoint)));
  });

  it('judges the Secret of the CA too', async () => {
    const withCa = object('Endpoint', { ...endpoint, tls: { caSecretRef: { name: 'ca' } } });
    const admitted = secretReferences(rights('get secrets s')).admit(request(withCa));
    await expect(admitted).rejects.toMatchObject({
      message: expect.stringContaining('spec.tls.caSecretRef.name'),
    });
  });

  it('refuses an ArtifactWorkflow by hand that names a Secret out of reach', async () => {
    const made = object('ArtifactWorkflow', { dstSecretRef: { name: 's' } });
    const admitted = secretReferences(rights('create artifactworkflows')).admit(request(made));
    await expect(admitted).rejects.toMatchObject({
      message: expect.stringContaining('spec.dstSecretRef.name'),
    });
  });

  it('lets the holder of artifactworkflows/secretrefs name Secrets it cannot read', async () => {
    const made = object('ArtifactWorkflow', { srcSecretRef: { name: 's' } });
    await secretReferences(rights('create artifactworkflows/secretrefs')).admit(request(made));
  });

  it('gives that holder nothing on Endpoints', async () => {
    const admitted = secretReferences(rights('create artifactworkflows/secretrefs')).admit(
      request(object('Endpoint', endpoint)),
    );
    await expect(admitted).rejects.toMatchObject({ code: 'Forbidden' });
  });

  it('judges neither status writes nor deletions', async () => {
    const made = object('Endpoint', endpoint);
    await secretReferences(rights()).admit(request(made, undefined, { subresource: 'status' }));
    await secretReferences(rights()).admit(request(made, made, { operation: 'DELETE' }));
    const ending = object('Endpoint', { ...endpoint, remoteURL: 'https://b' });
    ending.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
    await secretReferences(rights()).admit(request(ending, made));
  });
});
