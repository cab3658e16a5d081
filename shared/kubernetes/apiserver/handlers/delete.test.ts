import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  group,
  mergeType,
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

describe('delete', () => {
  it('removes an object without finalizers immediately', async () => {
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

  it('honours preconditions and refuses unknown options', async () => {
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

  it.each([
    [{ orphanDependents: 'true' }, 'orphanDependents must be true or false'],
    [{ orphanDependents: 1 }, 'orphanDependents'],
    [{ gracePeriodSeconds: '0' }, 'gracePeriodSeconds must be a whole number'],
    [{ gracePeriodSeconds: 1.5 }, 'gracePeriodSeconds'],
    [{ propagationPolicy: 5 }, 'propagationPolicy'],
    [{ propagationPolicy: ['Orphan'] }, 'propagationPolicy'],
    [{ dryRun: true }, 'dryRun must be a list of strings'],
    [{ dryRun: [true] }, 'dryRun'],
    [{ preconditions: [] }, 'preconditions must be an object'],
    [{ preconditions: { uid: 5 } }, 'preconditions.uid'],
    [{ preconditions: { resourceVersion: 5 } }, 'preconditions.resourceVersion'],
    [{ ignoreStoreReadErrorWithClusterBreakingPotential: 'no' }, 'ignoreStoreRead'],
    [{ kind: 'Widget' }, 'must hold DeleteOptions'],
    [{ kind: 'DeleteOptions', apiVersion: 1 }, 'apiVersion'],
  ])('deletes nothing when an option has the wrong type: %j', async (options, wrong) => {
    await call('POST', widgets, widget('typed'));
    for (const path of [`${widgets}/typed`, `${widgets}?fieldSelector=metadata.name%3Dtyped`]) {
      const answer = await call('DELETE', path, options);
      expect(answer.status).toBe(400);
      expect(answer.body.message).toContain(wrong);
    }
    expect((await call('GET', `${widgets}/typed`)).status).toBe(200);
  });

  it('takes null for an option as not given', async () => {
    await call('POST', widgets, widget('nulls'));
    const nulls = { kind: 'DeleteOptions', orphanDependents: null, gracePeriodSeconds: null, dryRun: null };
    const answer = await call('DELETE', `${widgets}/nulls`, { ...nulls, preconditions: { uid: null } });
    expect(answer.body.status).toBe('Success');
  });

  it('deletes a collection by selector and responds with the deleted objects', async () => {
    for (const name of ['c1', 'c2', 'c3'])
      await call('POST', widgets, widget(name, {}, { labels: { set: name === 'c3' ? 'b' : 'a' } }));
    const { body } = await call('DELETE', `${widgets}?labelSelector=set%3Da`);
    expect(body.kind).toBe('WidgetList');
    expect(body.items.map((item) => item.metadata.name)).toEqual(['c1', 'c2']);
    expect((await call('GET', `${widgets}/c3`)).status).toBe(200);
  });

  it('deletes the page of a collection that a list with the same query shows', async () => {
    for (const name of ['p1', 'p2', 'p3', 'p4', 'p5', 'p6'])
      await call('POST', widgets, widget(name, {}, { labels: { paged: name < 'p3' ? 'no' : 'yes' } }));
    const page = (query: string) => `${widgets}?labelSelector=paged%3Dyes${query}`;
    const namesOf = ({ body }: Awaited<ReturnType<typeof call>>) =>
      body.items.map((item) => item.metadata.name);
    const first = await call('GET', page('&limit=2'));
    const rest = await call('DELETE', page(`&limit=3&continue=${first.body.metadata.continue}`));
    expect(namesOf(rest)).toEqual(['p5', 'p6']);
    const one = await call('DELETE', page('&limit=1'));
    expect(namesOf(one)).toEqual(['p3']);
    expect(one.body.metadata.continue).toBeDefined();
    expect(namesOf(await call('GET', page('')))).toEqual(['p4']);
  });

  it('deletes the rest of a collection if another client deletes an object concurrently', async () => {
    for (const name of ['r1', 'r2', 'r3'])
      await call('POST', widgets, widget(name, {}, { labels: { set: 'race' } }));
    const { store } = server;
    const remove = store.delete.bind(store);
    const race = vi.spyOn(store, 'delete').mockImplementation(async (key, revision) => {
      if (key.endsWith('/r1')) await remove(key, revision);
      return remove(key, revision);
    });
    const answer = await call('DELETE', `${widgets}?labelSelector=set%3Drace`);
    race.mockRestore();
    expect([answer.status, answer.body.items?.map((item) => item.metadata.name)]).toEqual([
      200,
      ['r2', 'r3'],
    ]);
    expect((await call('GET', `${widgets}?labelSelector=set%3Drace`)).body.items).toEqual([]);
  });
});

it('logs no internal failure in these tests', () => {
  expect(server.logged).toEqual([]);
});
