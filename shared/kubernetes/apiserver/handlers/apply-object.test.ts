import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Answer,
  applyType,
  group,
  jsonPatchType,
  mergeType,
  startTestServer,
  type TestServer,
  widget,
  widgets,
} from '../testing/test-server.ts';

const version = `${group}/v1`;
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    authorize: async (user, attributes) => ({
      allowed: user.name === 'admin' || (attributes.isResourceRequest && attributes.verb === 'patch'),
    }),
  });
});
afterAll(() => server.close());

const call: TestServer['call'] = (...request) => server.call(...request);

function apply(name: string, manager: string, spec: object, query = '', metadata: object = {}) {
  const path = `${widgets}/${name}?fieldManager=${manager}${query}`;
  return call('PATCH', path, widget(name, spec, metadata), applyType);
}

interface Entry {
  manager: string;
  operation: string;
  time?: string;
  subresource?: string;
  fieldsV1: object;
}

function owners(answer: Answer): Entry[] {
  return (answer.body.metadata.managedFields ?? []) as Entry[];
}

function ownerOf(answer: Answer, manager: string): Entry | undefined {
  return owners(answer).find((entry) => entry.manager === manager);
}

describe('apply', () => {
  it('creates a missing object, and its manager owns the fields sent but not the defaults', async () => {
    const made = await apply('fresh', 'm1', { size: 1 });
    expect(made.status).toBe(201);
    expect(made.body.spec).toEqual({ size: 1, color: 'red' });
    expect(owners(made)).toEqual([
      {
        manager: 'm1',
        operation: 'Apply',
        apiVersion: version,
        time: made.body.metadata.creationTimestamp,
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:spec': { 'f:size': {} } },
      },
    ]);
    expect((await call('GET', `${widgets}/fresh`)).body).toEqual(made.body);
  });

  it('accepts YAML as well as JSON', async () => {
    const yaml = `apiVersion: ${version}\nkind: Widget\nmetadata:\n  name: yaml\nspec:\n  size: 2\n`;
    const made = await call('PATCH', `${widgets}/yaml?fieldManager=m1`, yaml, applyType);
    expect([made.status, made.body.spec.size]).toEqual([201, 2]);
    const flow = `{apiVersion: ${version}, kind: Widget, metadata: {name: yaml}, spec: {size: 3}}`;
    const changed = await call('PATCH', `${widgets}/yaml?fieldManager=m1`, flow, applyType);
    expect([changed.status, changed.body.spec.size]).toEqual([200, 3]);
  });

  it('writes nothing when it changes nothing', async () => {
    const made = await apply('noop', 'm1', { size: 1 });
    const again = await apply('noop', 'm1', { size: 1 });
    expect(again.status).toBe(200);
    expect(again.body).toEqual(made.body);
  });

  it('lets two managers own a field with equal values, and refuses different values', async () => {
    await apply('shared', 'm1', { size: 1, parts: [{ name: 'a', url: 'u' }] });
    const second = await apply('shared', 'm2', { size: 1 });
    expect(second.status).toBe(200);
    expect(
      owners(second)
        .map(({ manager }) => manager)
        .sort(),
    ).toEqual(['m1', 'm2']);
    const third = await apply('shared', 'm3', { parts: [{ name: 'a', url: 'v' }] });
    expect(third.status).toBe(409);
    expect(third.body.reason).toBe('Conflict');
    expect(third.body.message).toBe(
      'Apply failed with 1 conflict: conflict with "m1": .spec.parts[name="a"].url',
    );
    expect(third.body.details).toEqual({
      causes: [
        {
          reason: 'FieldManagerConflict',
          message: 'conflict with "m1"',
          field: '.spec.parts[name="a"].url',
        },
      ],
    });
  });

  it('takes fields over with force, and names updaters with their version', async () => {
    await call('POST', `${widgets}?fieldManager=maker`, widget('forced', { size: 1, color: 'blue' }));
    const refused = await apply('forced', 'm1', { size: 2, color: 'green' });
    expect(refused.body.message).toBe(
      `Apply failed with 2 conflicts: conflicts with "maker" using ${version}:\n- .spec.color\n- .spec.size`,
    );
    const taken = await apply('forced', 'm1', { size: 2, color: 'green' }, '&force=true');
    expect(taken.body.spec).toEqual({ size: 2, color: 'green' });
    expect(ownerOf(taken, 'maker')?.fieldsV1).toEqual({ 'f:spec': {} });
  });

  it('removes a field that its manager leaves out, unless another manager owns it', async () => {
    await apply('less', 'm1', { size: 1, tags: ['a', 'b'], parts: [{ name: 'x' }, { name: 'y' }] });
    await apply('less', 'm2', { tags: ['b'] });
    const less = await apply('less', 'm1', { parts: [{ name: 'y' }] });
    expect(less.body.spec).toEqual({ color: 'red', tags: ['b'], parts: [{ name: 'y' }] });
    expect(less.body.metadata.generation).toBe(2);
  });

  it('puts the items of its own list first, in its order', async () => {
    await apply('order', 'm1', { parts: [{ name: 'a' }, { name: 'b' }] });
    const merged = await apply('order', 'm2', { parts: [{ name: 'c' }, { name: 'a' }] });
    expect((merged.body.spec.parts as { name: string }[]).map(({ name }) => name)).toEqual(['c', 'a', 'b']);
  });

  it('admits the object and writes nothing with dryRun', async () => {
    const dry = await apply('dry', 'm1', { size: 1 }, '&dryRun=All');
    expect(dry.status).toBe(201);
    expect((await call('GET', `${widgets}/dry`)).status).toBe(404);
  });

  it('treats resourceVersion as a precondition', async () => {
    const made = await apply('guarded', 'm1', { size: 1 });
    const { resourceVersion } = made.body.metadata;
    expect((await apply('guarded', 'm1', { size: 2 }, '', { resourceVersion })).status).toBe(200);
    const stale = await apply('guarded', 'm1', { size: 3 }, '', { resourceVersion });
    expect([stale.status, stale.body.reason]).toEqual([409, 'Conflict']);
    expect(stale.body.message).toContain('the object has been modified');
  });

  it('accepts an empty creationTimestamp, which kubectl prints', async () => {
    await apply('stamp', 'm1', { size: 1 });
    const again = await apply('stamp', 'm1', { size: 2 }, '', { creationTimestamp: null });
    expect(again.status).toBe(200);
  });
});

describe('apply refuses', () => {
  it('unknown fields and repeated keys', async () => {
    const bogus = await apply('bad', 'm1', { bogus: 1 });
    expect([bogus.status, bogus.body.message]).toEqual([
      400,
      `failed to create typed patch object (/bad; ${version}, Kind=Widget): .spec.bogus: field not declared in schema`,
    ]);
    const twice = await apply('bad', 'm1', { parts: [{ name: 'a' }, { name: 'a' }] });
    expect(twice.body.message).toContain('.spec.parts: duplicate entries for key [name="a"]');
  });

  it('managedFields in the body', async () => {
    const { status, body } = await apply('bad', 'm1', {}, '', { managedFields: [] });
    expect([status, body.message]).toEqual([400, 'metadata.managedFields must be nil']);
  });

  it('a uid where there is no object', async () => {
    const { status, body } = await apply('absent', 'm1', {}, '', { uid: 'u' });
    expect([status, body.reason]).toEqual([409, 'Conflict']);
    expect(body.message).toBe(
      `Operation cannot be fulfilled on widgets.${group} "absent": uid mismatch: the provided object specified uid u, and no existing object was found`,
    );
  });

  it('a missing or unprintable fieldManager', async () => {
    const missing = await call('PATCH', `${widgets}/x`, widget('x'), applyType);
    expect([missing.status, missing.body.details.causes[0]]).toEqual([
      422,
      {
        reason: 'FieldValueRequired',
        message: 'Required value: is required for apply patch',
        field: 'fieldManager',
      },
    ]);
    expect((await apply('x', 'a'.repeat(129), {})).status).toBe(422);
    expect((await apply('x', '%07', {})).status).toBe(422);
  });

  it('force for any other patch', async () => {
    await apply('plain', 'm1', {});
    const { status } = await call('PATCH', `${widgets}/plain?force=true`, {}, mergeType);
    expect(status).toBe(422);
  });

  it('another kind, another name, no name', async () => {
    const path = `${widgets}/bad?fieldManager=m1`;
    const kind = await call('PATCH', path, { ...widget('bad'), kind: 'Gadget' }, applyType);
    expect([kind.status, kind.body.message]).toEqual([400, `invalid object type: ${version}, Kind=Gadget`]);
    expect((await call('PATCH', path, widget('good'), applyType)).status).toBe(400);
    const nameless = await call('PATCH', path, { apiVersion: version, kind: 'Widget' }, applyType);
    expect([nameless.status, nameless.body.message]).toEqual([
      400,
      'the name of the object (bad based on URL) was undeterminable: name must be provided',
    ]);
    expect((await call('PATCH', path, '[]', applyType)).status).toBe(400);
    expect((await call('PATCH', path, '{"a":', applyType)).status).toBe(400);
  });

  it('to create for a user who may only patch', async () => {
    const headers = { ...applyType, authorization: 'Bearer patcher' };
    const path = `${widgets}/theirs?fieldManager=m1`;
    const { status, body } = await call('PATCH', path, widget('theirs'), headers);
    expect([status, body.reason]).toEqual([403, 'Forbidden']);
    await call('PATCH', path, widget('theirs'), applyType);
    expect((await call('PATCH', path, widget('theirs', { size: 1 }), headers)).status).toBe(200);
  });

  it('an object that breaks a rule of its kind', async () => {
    const { status, body } = await apply('bad', 'm1', { color: 'impossible' });
    expect([status, body.reason]).toEqual([422, 'Invalid']);
  });
});

describe('apply to the status', () => {
  const path = (name: string) => `${widgets}/${name}/status?fieldManager=watcher`;
  const withPhase = (name: string, phase: string) => ({ ...widget(name, { size: 9 }), status: { phase } });

  it('owns the status alone, under its own entry', async () => {
    await apply('st', 'm1', { size: 1 });
    const { status, body } = await call('PATCH', path('st'), withPhase('st', 'Up'), applyType);
    expect([status, body.status, body.spec.size]).toEqual([200, { phase: 'Up' }, 1]);
    expect(body.metadata.managedFields).toContainEqual(
      expect.objectContaining({
        manager: 'watcher',
        subresource: 'status',
        fieldsV1: { 'f:status': { 'f:phase': {} } },
      }),
    );
  });

  it('finds no object to create', async () => {
    expect((await call('PATCH', path('none'), withPhase('none', 'Up'), applyType)).status).toBe(404);
  });
});

describe('managedFields of other writes', () => {
  const agent = { 'user-agent': 'my-tool/1.0' };

  it('are kept by create, PUT, merge patch and JSON patch', async () => {
    const made = await call('POST', widgets, widget('kept', { size: 1 }), agent);
    expect(owners(made)).toMatchObject([
      {
        manager: 'my-tool',
        operation: 'Update',
        fieldsV1: { 'f:spec': { '.': {}, 'f:color': {}, 'f:size': {} } },
      },
    ]);
    const put = await call('PUT', `${widgets}/kept?fieldManager=p`, { ...made.body, spec: { size: 2 } });
    expect(ownerOf(put, 'p')?.fieldsV1).toEqual({ 'f:spec': { 'f:size': {} } });
    const merge = { metadata: { labels: { a: 'b' } } };
    const patched = await call('PATCH', `${widgets}/kept?fieldManager=m`, merge, mergeType);
    expect(ownerOf(patched, 'm')?.fieldsV1).toEqual({ 'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } } });
    const operations = [{ op: 'replace', path: '/spec/size', value: 3 }];
    const last = await call('PATCH', `${widgets}/kept?fieldManager=j`, operations, jsonPatchType);
    expect(
      owners(last)
        .map(({ manager }) => manager)
        .sort(),
    ).toEqual(['j', 'm', 'my-tool']);
  });

  it('name the endpoint for the status, and do not change with an equal write', async () => {
    await call('POST', widgets, widget('eq'));
    const phase = { status: { phase: 'Up' } };
    const first = await call('PATCH', `${widgets}/eq/status?fieldManager=w`, phase, mergeType);
    expect(ownerOf(first, 'w')).toMatchObject({
      subresource: 'status',
      fieldsV1: { 'f:status': { '.': {}, 'f:phase': {} } },
    });
    const second = await call('PATCH', `${widgets}/eq/status?fieldManager=other`, phase, mergeType);
    expect(second.body).toEqual(first.body);
  });

  it.each([[[]], [[{}]]])('are cleared by %j until the next apply', async (sent) => {
    const name = `reset${sent.length}`;
    await apply(name, 'm1', { size: 1 });
    const cleared = await call(
      'PATCH',
      `${widgets}/${name}`,
      { metadata: { managedFields: sent } },
      mergeType,
    );
    expect(owners(cleared)).toEqual([]);
    const updated = await call('PATCH', `${widgets}/${name}`, { spec: { size: 2 } }, mergeType);
    expect(owners(updated)).toEqual([]);
    const applied = await apply(name, 'm1', { size: 2 });
    expect(
      owners(applied)
        .map(({ manager }) => manager)
        .sort(),
    ).toEqual(['before-first-apply', 'm1']);
  });

  it('are kept when a client leaves them out or sends invalid ones', async () => {
    const made = await apply('old', 'm1', { size: 1 });
    const { managedFields, ...metadata } = made.body.metadata;
    const put = await call('PUT', `${widgets}/old?fieldManager=p`, { ...made.body, metadata });
    expect(owners(put)).toEqual(managedFields);
    const nonsense = { metadata: { managedFields: [{ manager: 'x' }] } };
    const patched = await call('PATCH', `${widgets}/old`, nonsense, mergeType);
    expect(owners(patched)).toEqual(managedFields);
    expect(
      (await call('PATCH', `${widgets}/old`, { metadata: { managedFields: 5 } }, mergeType)).status,
    ).toBe(422);
  });

  it("let kubectl move from its own apply to the server's", async () => {
    const note = 'kubectl.kubernetes.io/last-applied-configuration';
    const annotations = { [note]: JSON.stringify(widget('moved', { size: 1 })) };
    await call(
      'POST',
      `${widgets}?fieldManager=kubectl-client-side-apply`,
      widget('moved', { size: 1 }, { annotations }),
    );
    // What kubectl does: apply, take over the old entries by a JSON patch that the resourceVersion guards, apply again.
    const first = await apply('moved', 'kubectl', { size: 1 });
    const { managedFields, resourceVersion } = first.body.metadata;
    const entries = (managedFields as Entry[]).filter(
      ({ manager }) => manager !== 'kubectl-client-side-apply',
    );
    const operations = [
      { op: 'replace', path: '/metadata/managedFields', value: entries },
      { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion },
    ];
    const path = `${widgets}/moved?fieldManager=kubectl`;
    const moved = await call('PATCH', path, operations, jsonPatchType);
    expect([moved.status, owners(moved).length]).toEqual([200, 1]);
    expect((await call('PATCH', path, operations, jsonPatchType)).status).toBe(409);
    const last = await apply('moved', 'kubectl', { color: 'blue' });
    expect(last.body.spec).toEqual({ color: 'blue' });
    expect(owners(last).map(({ manager }) => manager)).toEqual(['kubectl']);
  });
});
