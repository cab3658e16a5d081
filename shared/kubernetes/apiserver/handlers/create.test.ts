import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  group,
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

describe('create', () => {
  it("sets the server's fields, drops status and applies defaults", async () => {
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

  it('generates names that begin with generateName', async () => {
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

  it('responds 422 to another kind and names it', async () => {
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
  ])('responds 400 to %s', async (_what, sent) => {
    const { status, body } = await call('POST', widgets, sent);
    expect(body.reason).toBe('BadRequest');
    expect(status).toBe(400);
  });

  it("answers a wrong type with the field's name, not with an internal failure", async () => {
    const { status, body } = await call('POST', widgets, widget('typed', { size: 'big', parts: 'x' }));
    expect(status).toBe(422);
    expect(body.details.causes.map((cause) => cause.field).sort()).toEqual(['spec.parts', 'spec.size']);
  });

  it('accepts YAML and responds in YAML', async () => {
    const yaml = `apiVersion: ${group}/v1\nkind: Widget\nmetadata: {name: yaml}\nspec: {size: 3}\n`;
    const made = await call('POST', widgets, yaml, {
      'content-type': 'application/yaml',
      accept: 'application/yaml',
    });
    expect(made.status).toBe(201);
    expect(made.text).toContain('kind: Widget');
  });

  it('warns about unknown and repeated fields; Strict refuses them, Ignore does not warn', async () => {
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
    const { status, body } = await call('POST', widgets, text);
    expect(status).toBe(400);
    expect(body.message).toContain('"__proto__"');
    const kept = widget('constructor', { free: { constructor: { prototype: { polluted: true } } } });
    expect((await call('POST', widgets, kept)).body.spec).toMatchObject({
      free: { constructor: { prototype: { polluted: true } } },
    });
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('writes nothing on a dry run, and refuses other values of dryRun', async () => {
    const { status } = await call('POST', `${widgets}?dryRun=All`, widget('dry'));
    expect(status).toBe(201);
    expect((await call('GET', `${widgets}/dry`)).status).toBe(404);
    expect((await call('POST', `${widgets}?dryRun=Some`, widget('dry'))).status).toBe(422);
  });

  it('runs the hooks of the kind', async () => {
    const refused = await call('POST', widgets, widget('refused', { color: 'impossible' }));
    expect(refused.body.message).toBe(
      `Widget.${group} "refused" is invalid: spec.color: Invalid value: "impossible": no such color`,
    );
    const warned = await call('POST', widgets, widget('ugly', { color: 'ugly' }));
    expect(warned.headers.get('warning')).toBe('299 - "spec.color \\"ugly\\" is not recommended"');
  });

  it('serves virtual kinds without storing anything', async () => {
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

  it('refuses to delete the namespaces of Kubernetes itself', async () => {
    await call('POST', '/api/v1/namespaces', namespace('default'));
    expect((await call('DELETE', '/api/v1/namespaces/default')).status).toBe(403);
  });
});

it('logs no internal failure in these tests', () => {
  expect(server.logged).toEqual([]);
});
