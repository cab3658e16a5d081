import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ArcServer, startArcServer } from './testing/arc-server.ts';

const group = '/apis/arc.opendefense.cloud/v1alpha1';
const apiVersion = 'arc.opendefense.cloud/v1alpha1';
const namespaced = `${group}/namespaces/team`;

let server: ArcServer;
let mayGetSecrets = true;
const mayDo = ({ resource, subresource }: { resource: string; subresource: string }) =>
  subresource !== 'secretrefs' && (resource !== 'secrets' || mayGetSecrets);
beforeAll(async () => {
  server = await startArcServer({
    authorize: async (_user, asked) => ({ allowed: !asked.isResourceRequest || mayDo(asked) }),
  });
  const type = {
    rules: { srcTypes: ['oci'] },
    parameters: [{ name: 'specMode', value: 'fast' }],
    workflowTemplateRef: { name: 'copy', clusterScope: true },
    ttlAfterFinished: '1h',
    target: ['specImage'],
    schema: {
      type: 'object',
      properties: { image: { type: 'string' }, depth: { type: 'integer', default: 2 } },
    },
  };
  await server.call('POST', `${group}/clusterartifacttypes`, object('ClusterArtifactType', 'image', type));
  for (const [name, spec] of [
    ['from', { type: 'oci', remoteURL: 'https://a.example', secretRef: { name: 'login' } }],
    ['to', { type: 'oci', remoteURL: 'https://b.example', maxInFlight: 2 }],
  ] as const) {
    await server.call('POST', `${namespaced}/endpoints`, object('Endpoint', name, spec));
    const status = { observedGeneration: 1, ...(name === 'from' ? { secretGeneration: 1 } : {}) };
    await server.call('PATCH', `${namespaced}/endpoints/${name}/status`, { status });
  }
});
afterAll(() => server.close());

function object(kind: string, name: string, spec: object) {
  return { apiVersion, kind, metadata: { name }, spec };
}

function create(name: string, spec: object, query = '') {
  const one = object('ArtifactWorkflow', name, spec);
  return server.call('POST', `${namespaced}/artifactworkflows${query}`, one);
}

const short = {
  type: 'image',
  srcRef: { name: 'from' },
  dstRef: { name: 'to' },
  artifact: { spec: { image: 'a:1' } },
};

describe('an ArtifactWorkflow made by hand', () => {
  it('is completed from its type and Endpoints as one of an Order is', async () => {
    const { status, body } = await create('short', short);
    expect(status).toBe(201);
    expect(body.spec).toMatchObject({
      ...short,
      artifact: { spec: { image: 'a:1', depth: 2, mode: 'fast' } },
      workflowTemplateRef: { name: 'copy', clusterScope: true },
      srcSecretRef: { name: 'login' },
      ttlAfterFinished: '1h',
      limitedBy: ['to'],
    });
    expect(body.spec).toHaveProperty(
      'parameters',
      expect.arrayContaining([{ name: 'specImage', value: 'a:1' }]),
    );
    expect(body.metadata.labels).toHaveProperty(['arc.opendefense.cloud/target']);
  });

  it('is bound by the policy of its destination as one of an Order is', async () => {
    const endpoint = { type: 'oci', remoteURL: 'https://c.example', policyRef: { name: 'gate' } };
    await server.call('POST', `${namespaced}/endpoints`, object('Endpoint', 'bound', endpoint));
    await server.call('PATCH', `${namespaced}/endpoints/bound/status`, { status: { observedGeneration: 1 } });
    const spec = { ...short, dstRef: { name: 'bound' } };
    const absent = await create('absent', spec);
    expect([absent.status, absent.body.message]).toEqual([422, expect.stringContaining('"gate" not found')]);
    const gate = {
      parameters: [{ name: 'policy', value: '{"maxBytes":5}' }],
      workflowTemplateRef: { name: 'copy', clusterScope: true },
    };
    await server.call('POST', `${group}/clusterartifacttypes`, object('ClusterArtifactType', 'gate', gate));
    const { status, body } = await create('bound', spec);
    expect(status).toBe(201);
    expect(body.spec).toMatchObject({ policies: [{ from: 'Endpoint "bound" (type "gate")' }] });
  });

  it('keeps what it was given', async () => {
    const { body } = await create('mixed', { ...short, ttlAfterFinished: '5m', retry: { limit: 4 } });
    expect(body.spec).toMatchObject({ ttlAfterFinished: '5m', retry: { limit: 4 } });
    const long = { workflowTemplateRef: { name: 'mine' }, type: 'image' };
    expect((await create('long', long)).body.spec).toEqual(long);
  });

  it('needs the right to get the Secrets of its Endpoints', async () => {
    mayGetSecrets = false;
    const { status, body } = await create('spy', short).finally(() => {
      mayGetSecrets = true;
    });
    expect(status).toBe(403);
    expect(body.message).toContain('may not get Secret "login"');
  });

  it.each([
    ['type', { ...short, type: 'tape' }, 'artifact type "tape" not found'],
    ['srcRef', { ...short, srcRef: { name: 'nowhere' } }, 'source Endpoint "nowhere" not found'],
    ['schema', { ...short, artifact: { spec: { image: 1 } } }, 'spec.image: Invalid value: "integer"'],
  ])('is refused where it cannot be completed: %s', async (_, spec, text) => {
    const { status, body } = await create('bad', spec);
    expect(status).toBe(422);
    expect(body.message).toContain(text);
  });

  it('is refused as before where it says neither', async () => {
    const { status, body } = await create('empty', { type: 'image' });
    expect(status).toBe(422);
    expect(body.message).toContain('spec.workflowTemplateRef');
  });
});
