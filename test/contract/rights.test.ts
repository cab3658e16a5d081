import { describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import {
  artifactWorkflows,
  conduitNamespace,
  events,
  namespaces,
  orders,
  secrets,
  workflows,
} from '#shared/domain';
import { namespace, order, secret } from '../../shared/domain/testing/objects.ts';
import {
  fresh,
  functions,
  prepareForOrders,
  startApi,
  startFunctions,
  startWatching,
} from '../fixtures/standalone/parts.ts';

describe('the rights and Triggers in knative/base', () => {
  it('are enough for an Order to run to its end, to expire, and to be deleted', async () => {
    const api = await startApi();
    const admin = api.clientOf('admin');
    await prepareForOrders(admin, { secretRef: { name: 'login' } });
    await admin.create(secrets, fresh(secret('login', { username: 'u', password: 'p' })));

    const { denied, sink } = await startFunctions(api);
    // Events alone have to do it: nothing is repeated while this runs.
    startWatching(api, sink);

    const made = await admin.create(orders, fresh(order('one', ['a:1', 'b:1'])));
    const list = async () => (await admin.list(workflows, { namespace })).items;
    await expect
      .poll(async () => (await list()).length, { timeout: 15_000, message: 'two Workflows' })
      .toBe(2);
    for (const { metadata } of await list()) {
      const status = { phase: 'Succeeded', finishedAt: new Date().toISOString() };
      await admin.mergePatch(workflows, metadata, { status });
    }
    const phase = async () => (await admin.get(orders, made.metadata))?.status?.phase;
    await expect.poll(phase, { timeout: 15_000, message: 'the Order succeeds' }).toBe('Succeeded');
    const rendered = async () =>
      (await admin.list(secrets, { namespace })).items.map(({ metadata }) => metadata.name);
    await expect
      .poll(rendered, { timeout: 15_000, message: 'no rendered Secret is left' })
      .toEqual(['login']);

    // Its ArtifactWorkflows expire one by one; the result stays in its status, and nothing runs again.
    await admin.mergePatch(orders, made.metadata, { spec: { ttlSecondsAfterCompletion: 0 } });
    const kept = async () => (await admin.list(artifactWorkflows, { namespace })).items.length;
    await expect.poll(kept, { timeout: 15_000, message: 'the ArtifactWorkflows expire' }).toBe(0);
    expect(await phase()).toBe('Succeeded');

    // The clock of the API server counts in whole seconds: it has been there for longer than none.
    await admin.mergePatch(orders, made.metadata, { spec: { ttl: '0' } });
    const left = async () => [
      await phase(),
      (await admin.list(artifactWorkflows, { namespace })).items.length,
    ];
    await expect.poll(left, { timeout: 15_000, message: 'the Order goes' }).toEqual([undefined, 0]);
    expect(denied).toEqual([]);
  });

  it('without knative/tenant let an Order wait, say which command helps, and let it go', async () => {
    const api = await startApi({ given: false });
    const admin = api.clientOf('admin');
    await prepareForOrders(admin);
    const { sink } = await startFunctions(api);
    startWatching(api, sink);
    const made = await admin.create(orders, fresh(order('one', ['a:1'])));
    const said = async () =>
      Object.values((await admin.get(orders, made.metadata))?.status?.artifactWorkflows ?? {}).map(
        ({ phase, message }) => `${phase}: ${message}`,
      );
    await expect
      .poll(said, { timeout: 15_000, message: 'the command' })
      .toEqual([expect.stringContaining(`give it with kubectl apply -k knative/tenant -n ${namespace}`)]);
    expect((await admin.list(secrets, { namespace })).items).toEqual([]);
    await admin.delete(orders, made.metadata);
    const left = () => admin.get(orders, made.metadata);
    await expect.poll(left, { timeout: 15_000, message: 'the Order goes' }).toBeUndefined();
    expect((await admin.list(artifactWorkflows, { namespace })).items).toEqual([]);
  });

  it('show a step that a function keeps refusing as an Event on its object', async () => {
    const api = await startApi();
    const admin = api.clientOf('admin');
    for (const name of [namespace, conduitNamespace])
      await admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    const made = await admin.create(orders, fresh(order('one', ['a:1'])));
    const handle = () => Promise.reject(new ArcError('Invalid', 'this Order is too strange'));
    const { denied, sink } = await startFunctions(api, { instead: { 'roll-up-order': { handle } } });
    startWatching(api, sink);
    const messages = async () =>
      (await admin.list(events, { namespace })).items
        .filter((event) => event.reason === 'WakeRefused' && event.involvedObject.uid === made.metadata.uid)
        .map(({ message }) => message);
    await expect
      .poll(messages, { timeout: 15_000, message: 'the Event' })
      .toContain(
        'function roll-up-order failed every delivery of the step "roll-up"; its last answer was 422: this Order is too strange. It is tried again within a minute while it is due.',
      );
    expect(denied).toEqual([]);
  });

  it.each([
    ['decompose-order', 'get', 'may not read Secrets'],
    ['submit-workflow', 'get', 'may not read Secrets'],
    ['watch-bridge', 'get', 'may not read Secrets'],
  ])('%s %s Secrets: it %s', async (name) => {
    const { clientOf } = await startApi();
    const read = clientOf(name).get(secrets, { namespace, name: 'login' });
    await expect(read).rejects.toMatchObject({ code: 'Forbidden' });
  });

  it('let none of our accounts list Secrets', async () => {
    const { clientOf } = await startApi();
    for (const name of [...Object.keys(functions), 'watch-bridge']) {
      await expect(clientOf(name).list(secrets, { namespace }), name).rejects.toMatchObject({
        code: 'Forbidden',
      });
    }
  });
});
