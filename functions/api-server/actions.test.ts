import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requestOf } from '#shared/domain';
import { type ArcServer, startArcServer } from './testing/arc-server.ts';

const root = '/apis/arc.opendefense.cloud/v1alpha1';
const collection = `${root}/namespaces/team`;
const apiVersion = 'arc.opendefense.cloud/v1alpha1';
const present = new Date('2026-01-02T03:00:00.500Z');
const seconds = Math.floor(present.getTime() / 1000);
const note = (name: string) => `arc.opendefense.cloud/${name}`;

let server: ArcServer;
let denied: string | undefined;
let clock = present;
beforeAll(async () => {
  server = await startArcServer({
    now: () => clock,
    authorize: async (_user, asked) => {
      const path = 'resource' in asked ? `${asked.verb} ${asked.resource}/${asked.subresource}` : '';
      return { allowed: path !== denied };
    },
  });
  for (const name of ['order', 'forced', 'retried', 'kept'])
    await call('POST', 'orders', { apiVersion, kind: 'Order', metadata: { name } });
  const spec = { workflowTemplateRef: { name: 'arc-oci-image' } };
  for (const name of ['aw', 'followed'])
    await call('POST', 'artifactworkflows', {
      apiVersion,
      kind: 'ArtifactWorkflow',
      metadata: { name },
      spec,
    });
});
afterAll(() => server.close());

const call = (method: string, at: string, body?: object) => server.call(method, `${collection}/${at}`, body);
const annotated = (notes: Record<string, string>) => ({ metadata: { annotations: notes } });

describe('an action of an Order', () => {
  it('cancel sets the field once, and says who asked', async () => {
    const { status, body } = await call('POST', 'orders/order/cancel', {});
    expect(status).toBe(201);
    expect(body).toMatchObject({ kind: 'Order', spec: { cancel: true }, metadata: { generation: 2 } });
    expect(requestOf(body)).toEqual({ action: 'cancel', user: 'jo', time: present.toISOString() });
    expect(body.metadata.managedFields).toContainEqual(expect.objectContaining({ subresource: 'cancel' }));
    clock = new Date(present.getTime() + 5_000);
    const again = await call('POST', 'orders/order/cancel');
    expect(again).toMatchObject({ status: 201, body: { metadata: { generation: 2 } } });
    expect(again.body.metadata.resourceVersion).toBe(body.metadata.resourceVersion);
    expect(requestOf(again.body)?.time).toBe(present.toISOString());
    clock = present;
  });

  it("force sets the time by the server's clock, and again only once that was answered", async () => {
    const asked = async () => (await call('POST', 'orders/forced/force', {})).body.metadata.annotations;
    expect(await asked()).toMatchObject({ [note('force-at')]: String(seconds) });
    clock = new Date(present.getTime() + 5_000);
    expect(await asked()).toMatchObject({ [note('force-at')]: String(seconds) });
    // Answered by another clock, which is ahead.
    const lastForceAt = new Date((seconds + 60) * 1000).toISOString();
    await call('PATCH', 'orders/forced/status', { status: { lastForceAt } });
    expect(await asked()).toMatchObject({ [note('force-at')]: String(seconds + 61) });
    clock = present;
  });

  it('retry covers every end that the status shows, whichever clock has written it', async () => {
    expect((await call('POST', 'orders/retried/retry')).body.metadata.annotations).toMatchObject({
      [note('retry-at')]: String(seconds),
    });
    const entry = { artifactIndex: 0, phase: 'Failed', completionTime: '2026-01-02T03:05:00Z' };
    await call('PATCH', 'orders/retried/status', { status: { artifactWorkflows: { a: entry } } });
    const { body } = await call('POST', 'orders/retried/retry', {});
    expect(body.metadata.annotations).toMatchObject({ [note('retry-at')]: String(seconds + 300) });
  });

  it('writes nothing with dryRun', async () => {
    const dry = await call('POST', 'orders/kept/cancel?dryRun=All', {});
    expect(dry).toMatchObject({ status: 201, body: { spec: { cancel: true } } });
    expect((await call('GET', 'orders/kept')).body.spec).toEqual({});
  });

  it('needs the right to create the subresource, and no other', async () => {
    denied = 'create orders/cancel';
    expect((await call('POST', 'orders/kept/cancel', {})).status).toBe(403);
    denied = 'update orders/';
    expect((await call('POST', 'orders/kept/retry', {})).status).toBe(201);
    denied = undefined;
  });

  it.each([
    ['GET', 'orders/kept/cancel', undefined, 405, 'get is not supported'],
    ['POST', 'orders/kept/pause', {}, 404, 'not found'],
    ['POST', 'orders/absent/cancel', {}, 404, 'not found'],
    [
      'POST',
      'orders/kept/cancel',
      { cancel: false },
      400,
      'cancel takes no options: send an empty body or {}',
    ],
    ['POST', 'endpoints/kept/cancel', {}, 404, 'not found'],
  ])('%s %s with %j is refused with %i', async (method, at, body, status, message) => {
    const answer = await call(method, at, body);
    expect(answer.status).toBe(status);
    expect(answer.body.message).toContain(message);
  });
});

describe('an action of an ArtifactWorkflow', () => {
  it('cancel, and retry, which takes it back', async () => {
    expect((await call('POST', 'artifactworkflows/aw/cancel', {})).body.spec).toMatchObject({ cancel: true });
    const { body } = await call('POST', 'artifactworkflows/aw/retry', {});
    expect(body.spec).not.toHaveProperty('cancel');
    expect(body.metadata.annotations).toMatchObject({ [note('retry-at')]: String(seconds) });
  });

  it('retry leaves a cancel that follows the Order', async () => {
    const follows = { ...annotated({ [note('order-cancel')]: 'true' }), spec: { cancel: true } };
    await call('PATCH', 'artifactworkflows/followed', follows);
    expect((await call('POST', 'artifactworkflows/followed/retry', {})).body.spec).toMatchObject({
      cancel: true,
    });
  });
});

describe('the annotation that names the user', () => {
  const forged = (user: string) =>
    annotated({
      [note('requested-by')]: JSON.stringify({ action: 'cancel', user, time: present.toISOString() }),
      kept: 'yes',
    });

  it('is what the server wrote, whatever a client sends', async () => {
    const metadata = { name: 'forged', ...forged('eve').metadata };
    const created = await call('POST', 'orders', { apiVersion, kind: 'Order', metadata });
    expect(created.body.metadata.annotations).toEqual({ kept: 'yes' });
    await call('POST', 'orders/forged/retry', {});
    const { body } = await call('PATCH', 'orders/forged', forged('eve'));
    expect(requestOf(body)).toMatchObject({ action: 'retry', user: 'jo' });
    const removed = await call('PATCH', 'orders/forged', { metadata: { annotations: null } });
    expect(removed.body.metadata.annotations).toBeUndefined();
  });
});

describe('discovery and OpenAPI', () => {
  it('list the actions with the verb create', async () => {
    const { body } = await server.call('GET', root);
    const { resources } = body as unknown as { resources: { name: string; verbs: string[] }[] };
    const actions = resources.filter(({ verbs }) => verbs.join() === 'create').map(({ name }) => name);
    expect(actions).toEqual([
      'artifactworkflows/retry',
      'artifactworkflows/cancel',
      'orders/retry',
      'orders/force',
      'orders/cancel',
    ]);
  });

  it('describe them as posts that answer with the object', async () => {
    const { body } = await server.call('GET', `/openapi/v3${root}`);
    const { paths } = body as unknown as { paths: Record<string, { post?: object }> };
    expect(paths[`${root}/namespaces/{namespace}/orders/{name}/cancel`]?.post).toMatchObject({
      operationId: 'createArcOpendefenseCloudV1alpha1NamespacedOrderCancel',
      'x-kubernetes-action': 'post',
      responses: { 201: {} },
    });
  });
});
