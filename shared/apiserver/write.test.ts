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
} from './test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const call: TestServer['call'] = (...given) => server.call(...given);

describe('create', () => {
  it('sets what the server owns, drops status and applies defaults', async () => {
    const sent = { ...widget('made', {}, { uid: 'mine', generation: 9 }), status: { phase: 'Done' } };
    const { status, body } = await call('POST', widgets, sent);
    expect(status).toBe(201);
    expect(body.metadata).toMatchObject({ name: 'made', namespace: 'ns', generation: 1 });
    expect(body.metadata.uid).not.toBe('mine');
    expect(body.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(body.spec).toEqual({ color: 'red' });
    expect(body.status).toBeUndefined();
    const read = await call('GET', `${widgets}/made`);
    expect(read.body).toEqual(body);
  });

  it('refuses a second object of the name with AlreadyExists', async () => {
    await call('POST', widgets, widget('twice'));
    const { status, body } = await call('POST', widgets, widget('twice'));
    expect(status).toBe(409);
    expect(body).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: `widgets.${group} "twice" already exists`,
      reason: 'AlreadyExists',
      details: { name: 'twice', group, kind: 'widgets' },
      code: 409,
    });
  });

  it('draws names that begin with generateName', async () => {
    const sent = { ...widget('', {}), metadata: { generateName: 'gen-' } };
    const one = await call('POST', widgets, sent);
    const two = await call('POST', widgets, sent);
    expect(one.body.metadata.name).toMatch(/^gen-[a-z0-9]{5}$/);
    expect(one.body.metadata.name).not.toBe(two.body.metadata.name);
  });

  it('names every invalid field', async () => {
    const { status, body } = await call(
      'POST',
      widgets,
      widget('Bad_Name', {}, { labels: { 'a b': 'c d' } }),
    );
    expect(status).toBe(422);
    expect(body.reason).toBe('Invalid');
    expect(body.details.kind).toBe('Widget');
    const fields = body.details.causes.map((cause) => cause.field);
    expect(fields).toEqual(['metadata.name', 'metadata.labels', 'metadata.labels']);
  });

  it('answers 422 to a kind of another name, which it names', async () => {
    const other = { apiVersion: `${group}/v1`, kind: 'Gadget', metadata: { name: 'x' } };
    const { status, body } = await call('POST', widgets, other);
    expect([status, body.details.causes[0]?.field]).toEqual([422, 'kind']);
  });

  it.each([
    ['another apiVersion', { apiVersion: 'v1', kind: 'Widget', metadata: { name: 'x' } }],
    ['no kind', { apiVersion: `${group}/v1`, metadata: { name: 'x' } }],
    ['another namespace', widget('x', {}, { namespace: 'other' })],
    ['a resourceVersion', widget('x', {}, { resourceVersion: '5' })],
    ['labels of the wrong type', widget('x', {}, { labels: { a: 1 } })],
    ['a name that is no text', widget('x', {}, { name: 5 })],
    ['a generateName that is no text', widget('', {}, { generateName: 5 })],
    ['metadata that is a list', { ...widget('x'), metadata: [] }],
    ['a list', []],
    ['broken JSON', '{"a":'],
    ['nothing', ''],
  ])('answers 400 to %s', async (_what, sent) => {
    const { status, body } = await call('POST', widgets, sent);
    expect(body.reason).toBe('BadRequest');
    expect(status).toBe(400);
  });

  it('answers a wrong type with the field, not with a failure of its own', async () => {
    const { status, body } = await call('POST', widgets, widget('typed', { size: 'big', parts: 'x' }));
    expect(status).toBe(422);
    expect(body.details.causes.map((cause) => cause.field).sort()).toEqual(['spec.parts', 'spec.size']);
  });

  it('takes YAML and gives YAML', async () => {
    const yaml = `apiVersion: ${group}/v1\nkind: Widget\nmetadata: {name: yaml}\nspec: {size: 3}\n`;
    const made = await call('POST', widgets, yaml, {
      'content-type': 'application/yaml',
      accept: 'application/yaml',
    });
    expect(made.status).toBe(201);
    expect(made.text).toContain('kind: Widget');
  });

  it('warns about unknown and repeated fields, refuses them when strict, is silent when told to', async () => {
    const text = (name: string) =>
      `{"apiVersion":"${group}/v1","kind":"Widget","metadata":{"name":"${name}"},"spec":{"size":1,"size":2,"bogus":1}}`;
    const warned = await call('POST', widgets, text('warned'));
    expect(warned.status).toBe(201);
    expect(warned.headers.get('warning')).toBe(
      '299 - "duplicate field \\"spec.size\\"", 299 - "unknown field \\"spec.bogus\\""',
    );
    expect(warned.body.spec).toEqual({ size: 2, color: 'red' });
    const strict = await call('POST', `${widgets}?fieldValidation=Strict`, text('strict'));
    expect(strict.status).toBe(400);
    expect(strict.body.message).toBe(
      'Widget in version "v1" cannot be handled as a Widget: strict decoding error: duplicate field "spec.size", unknown field "spec.bogus"',
    );
    const silent = await call('POST', `${widgets}?fieldValidation=Ignore`, text('silent'));
    expect(silent.headers.has('warning')).toBe(false);
  });

  it('stores no key that could change a prototype', async () => {
    const text = `{"apiVersion":"${group}/v1","kind":"Widget","metadata":{"name":"proto"},"spec":{"free":{"__proto__":{"polluted":true},"\\u005f_proto__":1,"ok":1}}}`;
    const { body } = await call('POST', widgets, text);
    expect(body.spec.free).toEqual({ ok: 1 });
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('writes nothing on a dry run, and refuses other values of dryRun', async () => {
    const { status } = await call('POST', `${widgets}?dryRun=All`, widget('dry'));
    expect(status).toBe(201);
    expect((await call('GET', `${widgets}/dry`)).status).toBe(404);
    expect((await call('POST', `${widgets}?dryRun=Some`, widget('dry'))).status).toBe(422);
  });

  it('asks the hooks of the kind', async () => {
    const refused = await call('POST', widgets, widget('refused', { color: 'impossible' }));
    expect(refused.body.message).toBe(
      `Widget.${group} "refused" is invalid: spec.color: Invalid value: "impossible": no such color`,
    );
    const warned = await call('POST', widgets, widget('ugly', { color: 'ugly' }));
    expect(warned.headers.get('warning')).toBe('299 - "spec.color \\"ugly\\" is not recommended"');
  });

  it('answers virtual kinds without storing anything', async () => {
    const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
    const review = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      metadata: {},
      spec: {},
    };
    const { status, body } = await call('POST', path, review);
    expect(status).toBe(201);
    expect(body.status).toEqual({ allowed: true });
    expect((await call('GET', path)).status).toBe(405);
  });

  it('refuses bodies that are too large, encoded or of an unknown type', async () => {
    const large = JSON.stringify(widget('large', { color: 'x'.repeat(3 * 1024 * 1024) }));
    const answer = await call('POST', widgets, large);
    expect(answer.status).toBe(413);
    expect(answer.body.message).toContain('limit is 3145728');
    expect((await call('POST', widgets, widget('x'), { 'content-encoding': 'gzip' })).status).toBe(415);
    expect((await call('POST', widgets, widget('x'), { 'content-type': 'text/plain' })).status).toBe(415);
  });
});

describe('namespace lifecycle', () => {
  it('refuses objects in absent and terminating namespaces', async () => {
    const at = (ns: string) => `/apis/${group}/v1/namespaces/${ns}/widgets`;
    const absent = await call('POST', at('absent'), widget('x'));
    expect(absent.status).toBe(404);
    expect(absent.body.message).toBe('namespaces "absent" not found');
    const going = { ...namespace('going'), metadata: { name: 'going', finalizers: ['kubernetes'] } };
    await call('POST', '/api/v1/namespaces', going);
    const deleted = await call('DELETE', '/api/v1/namespaces/going');
    expect(deleted.body.status).toEqual({ phase: 'Terminating' });
    const terminating = await call('POST', at('going'), widget('x'));
    expect(terminating.status).toBe(403);
    expect(terminating.body.details.causes[0].reason).toBe('NamespaceTerminating');
  });

  it('keeps the namespaces that everything stands on', async () => {
    await call('POST', '/api/v1/namespaces', namespace('default'));
    expect((await call('DELETE', '/api/v1/namespaces/default')).status).toBe(403);
  });
});

describe('update', () => {
  it('replaces when the resourceVersion is current and counts generations of spec alone', async () => {
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

  it('needs a resourceVersion, and an object to replace', async () => {
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

  it('counts status as content where it is no endpoint of its own', async () => {
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

  it('does not let metadata of the server be changed', async () => {
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

  it('takes no write without a revision from a custom resource', async () => {
    await call('POST', widgets, widget('blind'));
    const patch = { metadata: { resourceVersion: null } };
    const patched = await call('PATCH', `${widgets}/blind`, patch, mergeType);
    const zero = await call('PUT', `${widgets}/blind`, widget('blind', {}, { resourceVersion: '0' }));
    for (const { status, body } of [patched, zero]) {
      expect([status, body.details.kind]).toEqual([422, 'widgets']);
      expect(body.message).toContain('metadata.resourceVersion: Invalid value: 0: must be specified');
    }
  });

  it('blames a patch, without repeating its result, for what is no object any more', async () => {
    await call('POST', widgets, widget('odd'));
    for (const patch of [{ kind: null }, { metadata: { labels: 'x' } }]) {
      const { status, body } = await call('PATCH', `${widgets}/odd`, patch, mergeType);
      expect([status, body.details.causes[0]?.field]).toEqual([422, 'patch']);
      expect(body.message).toContain('patch: Invalid value: "{…}": ');
    }
  });

  it('warns of finalizers without a domain, once', async () => {
    const first = await call('POST', widgets, widget('held', {}, { finalizers: ['bare', 'example.com/x'] }));
    expect(first.headers.get('warning')).toContain('"bare\\": prefer a domain-qualified finalizer name');
    const patch = { metadata: { labels: { a: 'b' }, annotations: {}, ownerReferences: [] } };
    const second = await call('PATCH', `${widgets}/held`, patch, mergeType);
    expect(second.headers.get('warning')).toBeNull();
    expect(Object.keys(second.body.metadata)).not.toContain('annotations');
  });

  it('never loses a patch to another one', async () => {
    await call('POST', widgets, widget('busy', {}));
    const patches = Array.from({ length: 20 }, (_, index) =>
      call('PATCH', `${widgets}/busy`, { metadata: { labels: { [`l${index}`]: 'x' } } }, mergeType),
    );
    const statuses = (await Promise.all(patches)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200]));
    const { body } = await call('GET', `${widgets}/busy`);
    expect(Object.keys(body.metadata.labels ?? {})).toHaveLength(20);
  });

  it('takes a resourceVersion in a patch as a precondition', async () => {
    const { body: made } = await call('POST', widgets, widget('guard'));
    const { resourceVersion } = made.metadata;
    const patch = { metadata: { resourceVersion, labels: { a: 'b' } } };
    expect((await call('PATCH', `${widgets}/guard`, patch, mergeType)).status).toBe(200);
    patch.metadata.labels.a = 'c';
    expect((await call('PATCH', `${widgets}/guard`, patch, mergeType)).status).toBe(409);
  });

  it('applies JSON patches, and tells which operation does not fit', async () => {
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
  it('take strategic merge patches, which kubectl sends for kinds it knows', async () => {
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

describe('delete', () => {
  it('removes at once what nothing holds', async () => {
    const { body: made } = await call('POST', widgets, widget('gone'));
    const { status, body } = await call('DELETE', `${widgets}/gone`, { propagationPolicy: 'Background' });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: 'Success',
      details: { name: 'gone', group, kind: 'widgets', uid: made.metadata.uid },
    });
    expect((await call('GET', `${widgets}/gone`)).status).toBe(404);
    expect((await call('DELETE', `${widgets}/gone`)).status).toBe(404);
  });

  it('waits for finalizers; removing the last one deletes', async () => {
    await call('POST', widgets, widget('held', {}, { finalizers: ['example.com/hold'] }));
    const first = await call('DELETE', `${widgets}/held`);
    expect(first.body.metadata).toMatchObject({ deletionGracePeriodSeconds: 0, generation: 2 });
    expect(first.body.metadata.deletionTimestamp).toBeDefined();
    const again = await call('DELETE', `${widgets}/held`);
    expect(again.body).toEqual(first.body);
    const more = { metadata: { finalizers: ['example.com/hold', 'example.com/more'] } };
    expect((await call('PATCH', `${widgets}/held`, more, mergeType)).status).toBe(422);
    const released = await call('PATCH', `${widgets}/held`, { metadata: { finalizers: null } }, mergeType);
    expect(released.status).toBe(200);
    expect(released.body.metadata.resourceVersion).toBe(first.body.metadata.resourceVersion);
    expect((await call('GET', `${widgets}/held`)).status).toBe(404);
  });

  it('leaves foreground and orphan deletion to the garbage collector through finalizers', async () => {
    await call('POST', widgets, widget('fore'));
    const fore = await call('DELETE', `${widgets}/fore`, { propagationPolicy: 'Foreground' });
    expect(fore.body.metadata.finalizers).toEqual(['foregroundDeletion']);
    const orphan = await call('DELETE', `${widgets}/fore?propagationPolicy=Orphan`);
    expect(orphan.body.metadata.finalizers).toEqual(['orphan']);
    const back = await call('DELETE', `${widgets}/fore?propagationPolicy=Background`);
    expect(back.body.status).toBe('Success');
  });

  it('honours preconditions and refuses options it does not know', async () => {
    await call('POST', widgets, widget('cond'));
    const wrong = await call('DELETE', `${widgets}/cond`, { preconditions: { uid: 'x' } });
    expect(wrong.status).toBe(409);
    expect(wrong.body.details.kind).toBe('Widget');
    const unknown = await call('DELETE', `${widgets}/cond`, { propagationPolicy: 'Sometimes' });
    expect(unknown.status).toBe(422);
    const dry = await call('DELETE', `${widgets}/cond`, { dryRun: ['All'] });
    expect(dry.body.status).toBe('Success');
    expect((await call('GET', `${widgets}/cond`)).status).toBe(200);
  });

  it('deletes a collection by selector and names what it deleted', async () => {
    for (const name of ['c1', 'c2', 'c3'])
      await call('POST', widgets, widget(name, {}, { labels: { set: name === 'c3' ? 'b' : 'a' } }));
    const { body } = await call('DELETE', `${widgets}?labelSelector=set%3Da`);
    expect(body.kind).toBe('WidgetList');
    expect(body.items.map((item) => item.metadata.name)).toEqual(['c1', 'c2']);
    expect((await call('GET', `${widgets}/c3`)).status).toBe(200);
  });

  it('logged no failure of its own in all this', () => {
    expect(server.logged).toEqual([]);
  });
});
