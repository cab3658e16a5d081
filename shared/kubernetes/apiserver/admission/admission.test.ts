import { afterEach, describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { createMetrics } from '#shared/base/telemetry';
import type { KubeObject } from '../kinds/definition.ts';
import {
  applyType,
  namespace,
  startTestServer,
  type TestServer,
  widget,
  widgets,
} from '../testing/test-server.ts';
import type { AdmissionPlugin, AdmissionRequest } from './plugin.ts';

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
});

/** Notes what a plug-in is asked about widgets. */
function recorder(name: string) {
  const asked: (AdmissionRequest & { stage: string })[] = [];
  const note = (stage: string, request: AdmissionRequest) => {
    if (request.kind.kind === 'Widget') asked.push({ ...request, stage });
  };
  const plugin: AdmissionPlugin = {
    name,
    async mutate(request) {
      note('mutate', request);
      return undefined;
    },
    validate: async (request) => note('validate', request),
  };
  return { plugin, asked };
}

function mutating(name: string, change: (object: KubeObject) => KubeObject): AdmissionPlugin {
  return {
    name,
    mutate: async ({ object, kind }) =>
      object !== undefined && kind.kind === 'Widget' ? change(object) : undefined,
  };
}

const specOf = (object: KubeObject | undefined) => (object?.spec ?? {}) as Record<string, unknown>;
const withSpec = (object: KubeObject, more: object) => ({ ...object, spec: { ...specOf(object), ...more } });

describe('admission', () => {
  it('sees every write in the terms of admission.k8s.io, before and after validation', async () => {
    const { plugin, asked } = recorder('Recorder');
    server = await startTestServer({ admission: [plugin] });
    await server.call('POST', `${widgets}?fieldManager=m&dryRun=All`, widget('a'));
    await server.call('POST', widgets, widget('a'));
    await server.call(
      'PATCH',
      `${widgets}/a/status`,
      { status: { phase: 'Good' } },
      {
        'content-type': 'application/merge-patch+json',
      },
    );
    await server.call('DELETE', `${widgets}/a?propagationPolicy=Foreground&dryRun=All`);
    expect(asked.map(({ stage, operation, subResource }) => `${stage} ${operation} ${subResource}`)).toEqual([
      ...['mutate CREATE ', 'validate CREATE ', 'mutate CREATE ', 'validate CREATE '],
      ...['mutate UPDATE status', 'validate UPDATE status', 'mutate DELETE ', 'validate DELETE '],
    ]);
    const [dry, validated, , , , update, , deletion] = asked;
    expect(dry).toMatchObject({
      kind: { group: 'test.example.com', version: 'v1', kind: 'Widget' },
      resource: { group: 'test.example.com', version: 'v1', resource: 'widgets' },
      namespace: 'ns',
      name: 'a',
      dryRun: true,
      oldObject: undefined,
      user: { name: 'admin' },
      object: { spec: { color: 'red' } },
      options: { kind: 'CreateOptions', dryRun: ['All'], fieldManager: 'm' },
    });
    expect(validated?.object?.metadata).toHaveProperty('managedFields');
    expect(update).toMatchObject({
      dryRun: false,
      oldObject: { metadata: { name: 'a' } },
      object: { status: { phase: 'Good' } },
      options: { kind: 'UpdateOptions' },
    });
    expect(deletion).toMatchObject({
      dryRun: true,
      object: undefined,
      oldObject: { metadata: { name: 'a' } },
      options: { kind: 'DeleteOptions', propagationPolicy: 'Foreground' },
    });
  });

  it('validates, tracks and stores the object as the plug-ins changed it', async () => {
    const first = mutating('First', (object) => withSpec(object, { size: 1 }));
    const second = mutating('Second', (object) =>
      withSpec(object, { size: Number(specOf(object).size) + 1 }),
    );
    server = await startTestServer({ admission: [first, second] });
    const created = await server.call('POST', `${widgets}?fieldManager=m`, widget('a'));
    expect(created.body.spec).toEqual({ size: 2, color: 'red' });
    expect(created.body.metadata.managedFields).toMatchObject([
      { manager: 'm', fieldsV1: { 'f:spec': { 'f:size': {} } } },
    ]);
  });

  it('rejects an object that a plug-in makes invalid, and accepts one that a plug-in repairs', async () => {
    const spoil = mutating('Spoil', (object) =>
      object.metadata.name === 'spoilt' ? withSpec(object, { size: 'big' }) : object,
    );
    const repair = mutating('Repair', (object) =>
      object.metadata.name === 'repaired' ? withSpec(object, { size: 3 }) : object,
    );
    server = await startTestServer({ admission: [spoil, repair] });
    const spoilt = await server.call('POST', widgets, widget('spoilt'));
    expect([spoilt.status, spoilt.body.details?.causes[0].field]).toEqual([422, 'spec.size']);
    const repaired = await server.call('POST', widgets, widget('repaired', { size: 'wrong' }));
    expect([repaired.status, repaired.body.spec]).toEqual([201, { size: 3, color: 'red' }]);
    const plain = await server.call('POST', widgets, widget('plain', { size: 'wrong' }));
    expect(plain.status).toBe(422);
  });

  it('stops at the first rejection, and counts it under the metric names of kube-apiserver', async () => {
    const metrics = createMetrics();
    const { plugin, asked } = recorder('Last');
    const refusing: AdmissionPlugin = {
      name: 'Refusing',
      async validate({ kind }) {
        if (kind.kind === 'Widget') throw new ArcError('Forbidden', 'not on Sundays');
      },
    };
    server = await startTestServer({ admission: [refusing, plugin], metrics });
    const { status, body } = await server.call('POST', widgets, widget('a'));
    expect([status, body.message]).toEqual([403, 'not on Sundays']);
    expect(asked.map(({ stage }) => stage)).toEqual(['mutate']);
    expect((await server.call('GET', `${widgets}/a`)).status).toBe(404);
    const text = metrics.expose();
    for (const line of [
      'apiserver_admission_step_admission_duration_seconds_count{operation="CREATE",rejected="true",type="validate"} 1',
      'apiserver_admission_controller_admission_duration_seconds_count{name="Refusing",operation="CREATE",rejected="true",type="validate"} 1',
      'apiserver_admission_controller_admission_duration_seconds_count{name="NamespaceLifecycle",operation="CREATE",rejected="false",type="admit"} 2',
    ]) {
      expect(text).toContain(`${line}\n`);
    }
  });
});

describe('the namespace lifecycle', () => {
  it('runs before validation', async () => {
    server = await startTestServer();
    const elsewhere = widgets.replace('/ns/', '/missing/');
    for (const spec of [{}, { size: 'wrong' }]) {
      const { status, body } = await server.call('POST', elsewhere, widget('a', spec));
      expect([status, body.message]).toEqual([404, 'namespaces "missing" not found']);
    }
    const applied = await server.call('PATCH', `${elsewhere}/a?fieldManager=m`, widget('a'), applyType);
    expect(applied.status).toBe(404);
  });

  it('refuses creates in a terminating namespace, but no other requests', async () => {
    server = await startTestServer();
    const held = { ...namespace('ns'), metadata: { name: 'held', finalizers: ['test.example.com/held'] } };
    await server.call('POST', '/api/v1/namespaces', held);
    const inside = widgets.replace('/ns/', '/held/');
    await server.call('POST', inside, widget('old'));
    await server.call('DELETE', '/api/v1/namespaces/held');
    const { status, body } = await server.call('POST', inside, widget('new'));
    expect([status, body.details?.causes]).toEqual([
      403,
      [
        {
          reason: 'NamespaceTerminating',
          message: 'namespace held is being terminated',
          field: 'metadata.namespace',
        },
      ],
    ]);
    const patched = await server.call(
      'PATCH',
      `${inside}/old`,
      { spec: { size: 1 } },
      {
        'content-type': 'application/merge-patch+json',
      },
    );
    expect(patched.status).toBe(200);
    expect((await server.call('DELETE', `${inside}/old`)).status).toBe(200);
  });

  it('refuses to delete the namespaces of Kubernetes itself', async () => {
    server = await startTestServer();
    await server.call('POST', '/api/v1/namespaces', namespace('default'));
    const { status, body } = await server.call('DELETE', '/api/v1/namespaces/default');
    expect([status, body.message]).toEqual([
      403,
      'namespaces "default" is forbidden: this namespace may not be deleted',
    ]);
  });
});
