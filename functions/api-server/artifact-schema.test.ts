import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ArcServer, startArcServer } from './testing/arc-server.ts';

const group = '/apis/arc.opendefense.cloud/v1alpha1';
const apiVersion = 'arc.opendefense.cloud/v1alpha1';
const schema = {
  type: 'object',
  required: ['image'],
  properties: {
    image: { type: 'string', pattern: '^[a-z0-9]+(?:[._-][a-z0-9]+)*:[a-z0-9.]+$' },
    override: { type: 'string' },
  },
};

let server: ArcServer;
beforeAll(async () => {
  server = await startArcServer();
  await writeType('POST', `${group}/clusterartifacttypes`, 'ClusterArtifactType', 'oci', schema);
});
afterAll(() => server.close());

function writeType(method: string, at: string, kind: string, name: string, its: object | undefined) {
  const spec = { workflowTemplateRef: { name: 't' }, ...(its === undefined ? {} : { schema: its }) };
  return server.call(method, at, { apiVersion, kind, metadata: { name }, spec });
}

function order(name: string, specs: object[], type = 'oci') {
  const artifacts = specs.map((spec) => ({ type, spec }));
  const defaults = { srcRef: { name: 'from' }, dstRef: { name: 'to' } };
  return { apiVersion, kind: 'Order', metadata: { name }, spec: { defaults, artifacts } };
}

const create = (one: object, namespace = 'team', query = '') =>
  server.call('POST', `${group}/namespaces/${namespace}/orders${query}`, one);
const edit = (name: string, patch: object) =>
  server.call('PATCH', `${group}/namespaces/team/orders/${name}`, patch);

describe('the schema of a type', () => {
  it('refuses an artifact that does not fit, names the field and tells what there is', async () => {
    const { status, body } = await create(order('typo', [{ image: 'a:1' }, { iamge: 'b:1' }]));
    expect(status).toBe(422);
    expect(body.message).toBe(
      'Order.arc.opendefense.cloud "typo" is invalid: [spec.artifacts[1].spec.image: Required value: there are image (string, required), override (string), ' +
        'spec.artifacts[1].spec.iamge: Forbidden: unknown field: there are image (string, required), override (string)]',
    );
  });

  it('compares patterns, in time that does not explode', async () => {
    expect((await create(order('bad', [{ image: 'Team:1' }]))).body.details?.causes).toMatchObject([
      { field: 'spec.artifacts[0].spec.image' },
    ]);
    expect((await create(order('long', [{ image: `${'a'.repeat(50_000)}!` }]))).status).toBe(422);
    expect((await create(order('good', [{ image: 'team.app:1.0' }]))).status).toBe(201);
  });

  it('is not asked about artifacts that an update leaves alone', async () => {
    await writeType('POST', `${group}/namespaces/team/artifacttypes`, 'ArtifactType', 'strict', undefined);
    await create(order('kept', [{ image: 'a:1', old: true }], 'strict'));
    await server.call('PATCH', `${group}/namespaces/team/artifacttypes/strict`, { spec: { schema } });
    expect((await edit('kept', { spec: { suspend: true } })).status).toBe(200);
    const more = order('kept', [{ image: 'a:1', old: true }, { old: true }], 'strict').spec;
    const refused = await edit('kept', { spec: more });
    expect(refused.body.details?.causes?.map(({ field }) => field)).toEqual([
      'spec.artifacts[1].spec.image',
      'spec.artifacts[1].spec.old',
    ]);
    expect((await edit('kept', { spec: { artifacts: more.artifacts.slice(0, 1) } })).status).toBe(200);
  });

  it('of the namespace hides the one of the cluster; a type that is not there is waited for', async () => {
    await writeType('POST', `${group}/namespaces/other/artifacttypes`, 'ArtifactType', 'oci', undefined);
    expect((await create(order('free', [{ iamge: 'x' }]), 'other')).status).toBe(201);
    expect((await create(order('later', [{ any: 1 }], 'absent'))).status).toBe(201);
    expect((await create(order('dry', [{ any: 1 }], 'absent'), 'team', '?dryRun=All')).status).toBe(201);
  });

  it('is refused itself where ARC does not understand it', async () => {
    const bad = { type: 'object', properties: { a: { type: 'string', pattern: '(?=x)' } } };
    const { status, body } = await writeType(
      'POST',
      `${group}/clusterartifacttypes`,
      'ClusterArtifactType',
      'bad',
      bad,
    );
    expect(status).toBe(422);
    expect(body.message).toContain(
      'spec.schema.properties[a].pattern: Invalid value: not a regular expression',
    );
    const unknown = { type: 'object', oneOf: [] };
    const answer = await writeType(
      'POST',
      `${group}/clusterartifacttypes`,
      'ClusterArtifactType',
      'bad',
      unknown,
    );
    expect(answer.body.message).toContain('spec.schema.oneOf: Invalid value: not a keyword that ARC knows');
  });
});

describe('fields of an artifact that become one parameter', () => {
  const both = { image: 'a:1', override: 'b', Override: 'c' };

  it('are refused with both names, whether its type has a schema or not', async () => {
    await writeType('POST', `${group}/clusterartifacttypes`, 'ClusterArtifactType', 'bare', undefined);
    const { status, body } = await create(order('shadow', [both], 'bare'));
    expect(status).toBe(422);
    expect(body.message).toBe(
      'Order.arc.opendefense.cloud "shadow" is invalid: spec.artifacts[0].spec: Invalid value: ' +
        'spec.artifacts[0].spec.Override and spec.artifacts[0].spec.override both become the parameter specOverride: remove one of them',
    );
    const nested = order('nested', [{ image: 'a:1', scan: { level: 1 }, 'scan.level': 2 }], 'bare');
    expect((await create(nested)).body.message).toContain('both become the parameter specScanLevel');
  });

  it('are waited for with the type, which may leave them to the user', async () => {
    expect((await create(order('early', [both], 'later'))).status).toBe(201);
    const open = { type: 'object', properties: { values: { type: 'object', additionalProperties: true } } };
    await writeType('POST', `${group}/clusterartifacttypes`, 'ClusterArtifactType', 'open', open);
    const values = { values: { paths: { '/': 'a', '/*': 'b' } } };
    expect((await create(order('free', [values], 'open'))).status).toBe(201);
  });

  it('are refused in the short form of an ArtifactWorkflow', async () => {
    for (const name of ['from', 'to']) {
      const spec = { type: 'oci', remoteURL: `https://${name}.example.com` };
      const at = `${group}/namespaces/team/endpoints`;
      await server.call('POST', at, { apiVersion, kind: 'Endpoint', metadata: { name }, spec });
      await server.call('PATCH', `${at}/${name}/status`, { status: { observedGeneration: 1 } });
    }
    const { defaults } = order('any', []).spec;
    const one = { type: 'bare', ...defaults, artifact: { spec: both } };
    const { status, body } = await server.call('POST', `${group}/namespaces/team/artifactworkflows`, {
      apiVersion,
      kind: 'ArtifactWorkflow',
      metadata: { name: 'by-hand' },
      spec: one,
    });
    expect(status).toBe(422);
    expect(body.message).toContain('spec.Override and spec.override both become the parameter specOverride');
  });
});
