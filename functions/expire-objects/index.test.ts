import { describe, expect, it } from 'vitest';
import {
  type ArtifactWorkflow,
  artifactWorkflows,
  events,
  type Order,
  orders,
  planOrder,
  rollUp,
} from '#shared/domain';
import { contextOf, eventOf } from '../../shared/conduit/runtime/testing/handler-context.ts';
import { inputs, made, order } from '../../shared/domain/testing/plan-objects.ts';
import { FakeApi } from '../../shared/kubernetes/client/testing/fake-api/fake-api.ts';
import { handle } from './index.ts';

const now = new Date('2026-01-02T00:00:00Z');
const ended = { phase: 'Succeeded', completionTime: '2026-01-01T23:00:00Z' } as const;

/** An Order that is a day old, with this TTL. */
function aged(ttl: string, annotations: Record<string, string> = {}): Order {
  const one = order([{ name: 'a', type: 'oci', spec: { image: 'a:1.0' } }], { ttl });
  return { ...one, metadata: { ...one.metadata, creationTimestamp: '2026-01-01T00:00:00Z', annotations } };
}

/** An Order with its finished ArtifactWorkflow; the status of the Order shows the end when `shown`. */
function finished(spec: Partial<ArtifactWorkflow['spec']>, shown = true): [Order, ArtifactWorkflow] {
  const of = order([{ name: 'a', type: 'oci', spec: { image: 'a:1.0' } }]);
  const child = made(of, ended, spec);
  const seen = shown ? child : made(of, { phase: 'Running' }, spec);
  return [{ ...of, status: rollUp(of, planOrder(of, inputs()), [seen], now) }, child];
}

const due = (api: FakeApi, object: Order | ArtifactWorkflow, at = now) =>
  handle(contextOf(api, at), eventOf(object));

describe('expire-objects', () => {
  it('deletes an Order after its time to live, and says so', async () => {
    const old = { ...aged('23h'), metadata: { ...aged('23h').metadata, finalizers: [] } };
    const api = new FakeApi([old]);
    await due(api, old);
    expect(api.read(orders, old.metadata)).toBeUndefined();
    expect(api.all(events)[0]).toMatchObject({
      reason: 'Expired',
      message: 'deleted: its time to live ended at 2026-01-01T23:00:00Z',
      involvedObject: { kind: 'Order', name: old.metadata.name },
    });
  });

  it('leaves an Order whose time has not come, has no time, or is being deleted', async () => {
    const going = aged('1s');
    for (const one of [
      aged('48h'),
      { ...aged('1s'), spec: {} },
      { ...going, metadata: { ...going.metadata, deletionTimestamp: '2026-01-01T23:00:00Z' } },
    ]) {
      const api = new FakeApi([one]);
      await due(api, one);
      expect(api.writes).toEqual([]);
    }
  });

  it('counts the time of an Order anew when it is forced', async () => {
    const forced = aged('23h', {
      'arc.opendefense.cloud/force-at': String(Date.parse('2026-01-01T12:00:00Z') / 1000),
    });
    const api = new FakeApi([forced]);
    await due(api, forced);
    expect(api.writes).toEqual([]);
    await due(api, forced, new Date('2026-01-02T11:00:00Z'));
    expect(api.writes).toMatchObject([{ verb: 'delete', resource: 'orders' }, { resource: 'events' }]);
  });

  it('deletes the state that it judged: an Order that is written meanwhile is judged again', async () => {
    const old = aged('1h');
    const api = new FakeApi([old]);
    api.before = ({ verb }) => {
      if (verb === 'delete') api.put({ ...old, spec: {} });
    };
    await expect(due(api, old)).rejects.toMatchObject({ code: 'Conflict' });
    api.before = () => undefined;
    await due(api, old);
    expect(api.read(orders, old.metadata)?.metadata.deletionTimestamp).toBeUndefined();
  });

  it('asks for another delivery when its clock is a little behind that of the bridge', async () => {
    const old = aged('24h');
    const api = new FakeApi([old]);
    const early = due(api, old, new Date('2026-01-01T23:59:58.700Z'));
    await expect(early).rejects.toMatchObject({
      code: 'ServiceUnavailable',
      details: { retryAfterSeconds: 2 },
    });
    expect(api.writes).toEqual([]);
  });

  it.each([
    ['an hour', '1h', true],
    ['no time', '0', true],
    ['two hours', '2h', false],
  ])(
    'deletes an ArtifactWorkflow that succeeded an hour ago and is kept for %s: %s -> %s',
    async (_, ttl, gone) => {
      const [of, child] = finished({ ttlAfterFinished: ttl, ttlAfterFailed: '0' });
      const api = new FakeApi([of, child]);
      await due(api, child);
      const left = api.read(artifactWorkflows, child.metadata);
      expect(left === undefined || left.metadata.deletionTimestamp !== undefined).toBe(gone);
    },
  );

  it('keeps an ArtifactWorkflow until its Order shows the result', async () => {
    const [of, child] = finished({ ttlAfterFinished: '0' }, false);
    const api = new FakeApi([of, child]);
    await due(api, child);
    expect(api.writes).toEqual([]);
  });

  it('deletes an ArtifactWorkflow without an Order, and one whose Order is another one of the name', async () => {
    const [of, child] = finished({ ttlAfterFinished: '0' }, false);
    const another = { ...of, metadata: { ...of.metadata, uid: 'another' } };
    for (const api of [new FakeApi([child]), new FakeApi([another, child])]) {
      await due(api, child);
      expect(api.writes[0]).toMatchObject({ verb: 'delete', resource: 'artifactworkflows' });
    }
  });

  it('does nothing about an object that is gone', async () => {
    const [of, child] = finished({ ttlAfterFinished: '0' });
    const api = new FakeApi([]);
    await due(api, of);
    await due(api, child);
    expect(api.writes).toEqual([]);
  });
});
