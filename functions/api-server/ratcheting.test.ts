import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { arcKinds } from '#shared/domain';
import { type ArcServer, startArcServer } from './testing/arc-server.ts';

const group = 'arc.opendefense.cloud';
let server: ArcServer;
beforeAll(async () => {
  // Everything, but no Secret may be read: whoever is asked about one refuses.
  server = await startArcServer({
    authorize: async (_user, asked) => ({
      allowed: !asked.isResourceRequest || asked.resource !== 'secrets',
    }),
  });
});
afterAll(() => server.close());

async function call(method: string, at: string, body?: object) {
  const answer = await server.call(method, at, body);
  return { ...answer, fields: (answer.body.details?.causes ?? []).map(({ field }) => field) };
}

interface Case {
  kind: string;
  /** A spec that rules of today would refuse, in the schema's part and in the kind's own. */
  spec: object;
  /** A change elsewhere, and how it shows. */
  sound: object;
  /** Changes that keep a fault or make another one, with the field that is to be named. */
  faulty: [object, string][];
  status?: object;
}

const template = { name: 'arc-oci-image' };
const artifact = { type: 'oci', srcRef: { name: 'a' }, dstRef: { name: 'b' }, spec: { image: 'a:1' } };
const cases: Case[] = [
  {
    kind: 'Order',
    spec: {
      ttl: 'soon',
      onChange: 'Sometimes',
      artifacts: [{ ...artifact, name: 'old', spec: { image: '{{workflow.name}}' } }],
    },
    sound: { queueName: 'fast' },
    faulty: [
      [{ ttl: 'later' }, 'spec.ttl'],
      [{ onChange: 'Never' }, 'spec.onChange'],
      [
        { artifacts: [{ ...artifact, name: 'new', spec: { image: '{{x}}' } }] },
        'spec.artifacts[0].spec.image',
      ],
    ],
    status: { message: 'seen' },
  },
  {
    kind: 'ArtifactWorkflow',
    spec: {
      workflowTemplateRef: { name: 'with {{braces}}' },
      parameters: [{ name: 'a b', value: '' }],
      ttlAfterFailed: 'soon',
      suspend: 'perhaps',
      srcSecretRef: { name: 'secret' },
    },
    sound: { ttlAfterFinished: '1h' },
    faulty: [
      [{ ttlAfterFailed: 'later' }, 'spec.ttlAfterFailed'],
      [{ suspend: 'always' }, 'spec.suspend'],
    ],
    status: { message: 'seen' },
  },
  {
    kind: 'Endpoint',
    spec: {
      ...{ type: 'oci', remoteURL: 'https://me:hunter2@a b', usage: 'Sometimes' },
      secretRef: { name: 'secret' },
    },
    sound: { maxInFlight: 3 },
    faulty: [
      [{ usage: 'Never' }, 'spec.usage'],
      [{ remoteURL: 'https://{{x}}' }, 'spec.remoteURL'],
    ],
    status: { secretGeneration: 2 },
  },
  ...['ArtifactType', 'ClusterArtifactType'].map((kind) => ({
    kind,
    spec: {
      workflowTemplateRef: { name: '' },
      ttlAfterFinished: 'soon',
      rules: { srcTypes: [''] },
      retry: { limit: -1 },
    },
    sound: { queueName: 'fast', workflowTemplateRef: { ...template, name: '' } },
    faulty: [
      [{ ttlAfterFinished: 'later' }, 'spec.ttlAfterFinished'],
      [{ rules: { srcTypes: ['oci', ''] } }, 'spec.rules.srcTypes[1]'],
      [{ retry: { limit: -2 } }, 'spec.retry.limit'],
    ] as [object, string][],
  })),
];

describe('rules that have become stricter', () => {
  it('have a case for every kind', () => {
    expect(cases.map(({ kind }) => kind).sort()).toEqual(arcKinds.map(({ kind }) => kind).sort());
  });

  it.each(cases)(
    'let an old $kind be changed elsewhere, and go',
    async ({ kind, spec, sound, faulty, status }) => {
      const definition = arcKinds.find((each) => each.kind === kind);
      if (definition === undefined) throw new Error(kind);
      const { plural, scope, version } = definition;
      const namespace = scope === 'Namespaced' ? { namespace: 'team' } : {};
      const place = scope === 'Namespaced' ? 'team/' : '';
      const collection = `/apis/${group}/${version}/${place && 'namespaces/'}${place}${plural}`;
      const at = `${collection}/old`;
      const identity = { apiVersion: `${group}/${version}`, kind };
      const metadata = {
        name: 'old',
        ...namespace,
        uid: 'u',
        generation: 1,
        finalizers: ['test.example.com/held'],
      };
      const stored = Buffer.from(JSON.stringify({ ...identity, metadata, spec }));
      expect(await server.store.create(`/registry/${group}/${plural}/${place}old`, stored)).toMatchObject({
        ok: true,
      });

      const again = await call('POST', collection, { ...identity, metadata: { name: 'new' }, spec });
      expect(again.status).toBe(422);
      for (const [change, field] of faulty) {
        const refused = await call('PATCH', at, { spec: change });
        expect([refused.status, refused.fields]).toEqual([422, [field]]);
      }
      const labelled = await call('PATCH', at, { metadata: { labels: { a: 'b' } } });
      expect([labelled.status, labelled.body.spec]).toEqual([200, spec]);
      const changed = await call('PATCH', at, { spec: sound });
      expect([changed.status, changed.body.spec]).toEqual([200, { ...spec, ...sound }]);
      expect(
        (await call('PUT', at, { ...changed.body, metadata: { ...changed.body.metadata, labels: {} } }))
          .status,
      ).toBe(200);
      if (status) expect((await call('PATCH', `${at}/status`, { status })).body.status).toMatchObject(status);

      expect((await call('DELETE', at)).body.metadata).toHaveProperty('deletionTimestamp');
      // Nothing at all is judged now: not even what changes.
      const [first] = faulty;
      expect((await call('PATCH', at, { spec: first?.[0] })).status).toBe(200);
      expect((await call('PATCH', at, { metadata: { finalizers: null } })).status).toBe(200);
      expect((await call('GET', at)).status).toBe(404);
    },
  );
});
