import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  gadgets,
  group,
  jsonPatchType,
  mergeType,
  namespace,
  startTestServer,
  type TestServer,
  widget,
  widgets,
} from '../testing/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const call: TestServer['call'] = (...given) => server.call(...given);

describe('update', () => {
  it('replaces when the resourceVersion is current and counts generations for changes of spec only', async () => {
    const { body: made } = await call('POST', widgets, widget('put'));
    const changed = await call('PUT', `${widgets}/put`, { ...made, spec: { size: 5 } });
    expect(changed.status).toBe(200);
    expect(changed.body.metadata.generation).toBe(2);
    const stale = await call('PUT', `${widgets}/put`, { ...made, spec: { size: 6 } });
    expect(stale.status).toBe(409);
    expect(stale.body.reason).toBe('Conflict');
    const labelled = await call('PATCH', `${widgets}/put`, { metadata: { labels: { a: 'b' } } }, mergeType);
    expect(labelled.body.metadata).toMatchObject({ generation: 2, labels: { a: 'b' } });
  });

  it('requires a resourceVersion and an existing object', async () => {
    await call('POST', widgets, widget('bare'));
    expect((await call('PUT', `${widgets}/bare`, widget('bare'))).status).toBe(422);
    expect((await call('PUT', `${widgets}/nobody`, widget('nobody'))).status).toBe(404);
    expect((await call('PUT', `${widgets}/bare`, widget('other'))).status).toBe(400);
  });

  it('keeps the resourceVersion when nothing changes', async () => {
    const { body: made } = await call('POST', widgets, widget('same', { size: 1 }));
    const put = await call('PUT', `${widgets}/same`, made);
    const patched = await call('PATCH', `${widgets}/same`, { spec: { size: 1 } }, mergeType);
    expect(put.body).toEqual(made);
    expect(patched.body).toEqual(made);
  });

  it('merges, prunes and checks the status alone where a patch of /status names nothing else', async () => {
    await call('POST', widgets, widget('lane', { size: 1 }));
    const patch = (body: object, query = '') =>
      call('PATCH', `${widgets}/lane/status${query}`, body, mergeType);
    const { body, headers } = await patch({ status: { phase: 'Good', bogus: 1 } });
    expect([body.status, headers.get('warning')]).toEqual([
      { phase: 'Good' },
      '299 - "unknown field \\"status.bogus\\""',
    ]);
    expect((await patch({ metadata: { resourceVersion: '1' }, status: { phase: 'Late' } })).status).toBe(409);
    expect((await patch({ status: { phase: 7 } })).body.details.causes[0].field).toBe('status.phase');
    expect((await patch({ status: { bogus: 1 } }, '?fieldValidation=Strict')).status).toBe(422);
    const { resourceVersion } = body.metadata;
    const gone = await patch({ metadata: { resourceVersion }, status: null });
    expect([gone.status, gone.body.status, gone.body.spec]).toEqual([200, undefined, body.spec]);
  });

  it('writes status at /status only, and nothing else there', async () => {
    const { body: made } = await call('POST', widgets, widget('state', { size: 1 }));
    const main = await call('PUT', `${widgets}/state`, { ...made, status: { phase: 'Done' } });
    expect(main.body.status).toBeUndefined();
    const sent = {
      ...made,
      metadata: { ...made.metadata, labels: { a: 'b' } },
      spec: { size: 2 },
      status: { phase: 'Done' },
    };
    const { body } = await call('PUT', `${widgets}/state/status`, sent);
    expect(body.status).toEqual({ phase: 'Done' });
    expect(body.spec.size).toBe(1);
    expect(body.metadata.labels).toBeUndefined();
    expect(body.metadata.generation).toBe(1);
    expect((await call('GET', `${widgets}/state/status`)).body).toEqual(body);
    const cleared = await call('PATCH', `${widgets}/state/status`, { status: null }, mergeType);
    expect(cleared.body.status).toBeUndefined();
  });

  it('counts status as content of kinds without a status subresource', async () => {
    await call('POST', gadgets, {
      apiVersion: `${group}/v1`,
      kind: 'Gadget',
      metadata: { name: 'g' },
      status: { a: 1 },
    });
    const { body } = await call('PATCH', `${gadgets}/g`, { status: { a: 2 } }, mergeType);
    expect(body).toMatchObject({ status: { a: 2 }, metadata: { generation: 2 } });
    expect((await call('GET', `${gadgets}/g/status`)).body.reason).toBe('NotFound');
  });

  it("keeps the server's metadata unchanged", async () => {
    await call('POST', widgets, widget('fixed'));
    const { body: made } = await call('GET', `${widgets}/fixed`);
    const creationTimestamp = '2020-01-01T00:00:00Z';
    const { body: same } = await call(
      'PATCH',
      `${widgets}/fixed`,
      { metadata: { creationTimestamp } },
      mergeType,
    );
    expect(same.metadata).toEqual(made.metadata);
    for (const metadata of [{ uid: 'x' }, { deletionTimestamp: '2020-01-01T00:00:00Z' }]) {
      const { status, body } = await call('PATCH', `${widgets}/fixed`, { metadata }, mergeType);
      expect(status).toBe(422);
      expect(body.message).toContain('field is immutable');
    }
    expect((await call('PATCH', `${widgets}/fixed`, { metadata: { name: 'y' } }, mergeType)).status).toBe(
      400,
    );
  });

  it('refuses an update of a custom resource without resourceVersion', async () => {
    await call('POST', widgets, widget('blind'));
    const patch = { metadata: { resourceVersion: null } };
    const patched = await call('PATCH', `${widgets}/blind`, patch, mergeType);
    const zero = await call('PUT', `${widgets}/blind`, widget('blind', {}, { resourceVersion: '0' }));
    for (const { status, body } of [patched, zero]) {
      expect([status, body.details.kind]).toEqual([422, 'widgets']);
      expect(body.message).toContain('metadata.resourceVersion: Invalid value: 0: must be specified');
    }
  });

  it('refuses a patch whose result is not an object, without repeating the result', async () => {
    await call('POST', widgets, widget('odd'));
    for (const patch of [{ kind: null }, { metadata: { labels: 'x' } }]) {
      const { status, body } = await call('PATCH', `${widgets}/odd`, patch, mergeType);
      expect([status, body.details.causes[0]?.field]).toEqual([422, 'patch']);
      expect(body.message).toContain('patch: Invalid value: "{…}": ');
    }
  });

  it('warns once about finalizers without a domain', async () => {
    const first = await call('POST', widgets, widget('held', {}, { finalizers: ['bare', 'example.com/x'] }));
    expect(first.headers.get('warning')).toContain('"bare\\": prefer a domain-qualified finalizer name');
    const patch = { metadata: { labels: { a: 'b' }, annotations: {}, ownerReferences: [] } };
    const second = await call('PATCH', `${widgets}/held`, patch, mergeType);
    expect(second.headers.get('warning')).toBeNull();
    expect(Object.keys(second.body.metadata)).not.toContain('annotations');
  });

  it('loses no concurrent patch', async () => {
    await call('POST', widgets, widget('busy', {}));
    const patches = Array.from({ length: 20 }, (_, index) =>
      call('PATCH', `${widgets}/busy`, { metadata: { labels: { [`l${index}`]: 'x' } } }, mergeType),
    );
    const statuses = (await Promise.all(patches)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200]));
    const { body } = await call('GET', `${widgets}/busy`);
    expect(Object.keys(body.metadata.labels ?? {})).toHaveLength(20);
  });

  it('treats a resourceVersion in a patch as a precondition', async () => {
    const { body: made } = await call('POST', widgets, widget('guard'));
    const { resourceVersion } = made.metadata;
    const patch = { metadata: { resourceVersion, labels: { a: 'b' } } };
    expect((await call('PATCH', `${widgets}/guard`, patch, mergeType)).status).toBe(200);
    patch.metadata.labels.a = 'c';
    expect((await call('PATCH', `${widgets}/guard`, patch, mergeType)).status).toBe(409);
  });

  it('applies JSON patches, and names the operation that cannot be applied', async () => {
    await call('POST', widgets, widget('ops', { size: 1 }));
    const operations = [
      { op: 'test', path: '/spec/size', value: 1 },
      { op: 'replace', path: '/spec/size', value: 7 },
    ];
    const first = await call('PATCH', `${widgets}/ops`, operations, jsonPatchType);
    expect(first.body.spec.size).toBe(7);
    const second = await call('PATCH', `${widgets}/ops`, operations, jsonPatchType);
    expect(second.status).toBe(422);
    expect(second.body.message).toContain('operation 0 (test /spec/size)');
    expect((await call('PATCH', `${widgets}/ops`, [{ op: 'fly' }], jsonPatchType)).status).toBe(422);
  });

  it.each(['application/strategic-merge-patch+json', 'application/apply-patch+cbor', 'application/json'])(
    'refuses %s with the types it takes',
    async (type) => {
      const { status, body } = await call('PATCH', `${widgets}/made`, {}, { 'content-type': type });
      expect(status).toBe(415);
      expect(body.message).toContain('application/json-patch+json, application/merge-patch+json');
    },
  );
});

describe('core kinds', () => {
  it('accept strategic merge patches, which kubectl sends for built-in kinds', async () => {
    await call('POST', '/api/v1/namespaces', namespace('core'));
    const type = { 'content-type': 'application/strategic-merge-patch+json' };
    const { status, body } = await call(
      'PATCH',
      '/api/v1/namespaces/core',
      { metadata: { labels: { a: 'b' } } },
      type,
    );
    expect(status).toBe(200);
    expect(body.metadata.labels).toEqual({ a: 'b' });
  });

  it('are created from the protobuf that kubectl sends for them', async () => {
    const type = { 'content-type': 'application/vnd.kubernetes.protobuf' };
    // runtime.Unknown { typeMeta { "v1", "Namespace" }, raw { metadata { name "from-kubectl" } spec {} status {} } }
    const raw = '\n\x0e\n\x0cfrom-kubectl\x12\x00\x1a\x00';
    const text = `k8s\0\n\x0f\n\x02v1\x12\tNamespace\x12\x14${raw}\x1a\x00"\x00`;
    const { status, body } = await call('POST', '/api/v1/namespaces', text, type);
    expect(status).toBe(201);
    expect(body.metadata.name).toBe('from-kubectl');
    expect((await call('POST', widgets, text, type)).status).toBe(415);
  });
});

it('logs no internal failure in these tests', () => {
  expect(server.logged).toEqual([]);
});
