import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ArcError } from '#shared/base/errors';
import type { ObjectMeta, OwnerReference } from '#shared/base/meta';
import type { Kind } from '#shared/kubernetes/client';
import { FakeApi } from '../../kubernetes/client/testing/fake-api/fake-api.ts';
import { startGarbageCollector } from './collector.ts';

const orders: Kind = { apiVersion: 'arc/v1', kind: 'Order', plural: 'orders', namespaced: true };
const secrets: Kind = { apiVersion: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true };
const namespaces: Kind = { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };
const events: Kind = { apiVersion: 'v1', kind: 'Event', plural: 'events', namespaced: true };

let api: FakeApi;
let control: AbortController;
let done: Promise<void>;
beforeEach(() => {
  api = new FakeApi();
  control = new AbortController();
});
afterEach(async () => {
  control.abort();
  await done;
});

function start(sweepMs = 60_000): void {
  const kinds = [orders, secrets, namespaces, events].map(({ apiVersion, kind, plural, namespaced }) => {
    const [version = '', group = ''] = apiVersion.split('/').reverse();
    return {
      group,
      version,
      kind,
      plural,
      scope: namespaced ? ('Namespaced' as const) : ('Cluster' as const),
    };
  });
  ({ done } = startGarbageCollector({
    api: api.client,
    kinds,
    signal: control.signal,
    log: pino({ level: 'silent' }),
    sweepMs,
  }));
}
const make = (kind: Kind, name: string, over: Partial<ObjectMeta> = {}, owners: OwnerReference[] = []) =>
  api.client.create(kind, {
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    metadata: { name, ...(kind.namespaced && { namespace: 'ns' }), ownerReferences: owners, ...over },
  });
const ownedBy = (name: string, over: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: 'arc/v1',
  kind: 'Order',
  name,
  uid: `uid-${name}`,
  ...over,
});
const names = () =>
  api
    .all()
    .map((object) => object.metadata.name)
    .sort();
const eventually = (check: () => void) => vi.waitFor(check, { timeout: 10_000, interval: 10 });

describe('startGarbageCollector', () => {
  it('deletes the dependents of a deleted owner, and theirs', async () => {
    await make(orders, 'a');
    await make(orders, 'b', {}, [ownedBy('a')]);
    await make(secrets, 'c', {}, [ownedBy('b')]);
    await make(secrets, 'free');
    start();
    await api.client.delete(orders, { name: 'a', namespace: 'ns' });
    await eventually(() => expect(names()).toEqual(['free']));
  });

  it('deletes an object whose owner went before the start, even when another object has its name now', async () => {
    await make(orders, 'a');
    await make(secrets, 'c', {}, [ownedBy('a', { uid: 'former' })]);
    start();
    await eventually(() => expect(names()).toEqual(['a']));
  });

  it('keeps an object that has another owner, and drops the dead reference', async () => {
    await make(orders, 'a');
    await make(orders, 'b');
    await make(secrets, 'c', {}, [ownedBy('a'), ownedBy('b')]);
    start();
    await api.client.delete(orders, { name: 'a', namespace: 'ns' });
    await eventually(() => expect(api.all().at(-1)?.metadata.ownerReferences).toEqual([ownedBy('b')]));
    expect(names()).toEqual(['b', 'c']);
  });

  it('leaves objects alone whose owner is of an unknown kind', async () => {
    await make(secrets, 'c', {}, [ownedBy('x', { apiVersion: 'other/v1', kind: 'Thing' })]);
    await make(secrets, 'd', {}, [ownedBy('gone')]);
    start();
    await eventually(() => expect(names()).toEqual(['c']));
  });

  it('deletes dependents first in the foreground', async () => {
    await make(orders, 'a');
    await make(orders, 'b', {}, [ownedBy('a', { blockOwnerDeletion: true })]);
    await make(secrets, 'c', { finalizers: ['x/held'] }, [ownedBy('b', { blockOwnerDeletion: true })]);
    start();
    await api.client.delete(orders, { name: 'a', namespace: 'ns' }, { propagationPolicy: 'Foreground' });
    const held = () => api.all().find((object) => object.metadata.name === 'c');
    await eventually(() => expect(held()?.metadata.deletionTimestamp).toBeDefined());
    expect(names()).toEqual(['a', 'b', 'c']);
    await api.client.mergePatch(secrets, { name: 'c', namespace: 'ns' }, { metadata: { finalizers: [] } });
    await eventually(() => expect(names()).toEqual([]));
  });

  it('lets dependents live when their owner is orphaned away', async () => {
    await make(orders, 'a');
    await make(secrets, 'c', {}, [ownedBy('a')]);
    start();
    await api.client.delete(orders, { name: 'a', namespace: 'ns' }, { propagationPolicy: 'Orphan' });
    await eventually(() => expect(names()).toEqual(['c']));
    expect(api.all()[0]?.metadata).not.toHaveProperty('ownerReferences');
  });

  it('empties a namespace before it goes', async () => {
    await make(namespaces, 'ns', { finalizers: ['kubernetes'] });
    await make(orders, 'a', { finalizers: ['x/held'] });
    await make(secrets, 'c');
    await make(secrets, 'elsewhere', { namespace: 'other' });
    start();
    await api.client.delete(namespaces, { name: 'ns' });
    await eventually(() => expect(names()).toEqual(['a', 'elsewhere', 'ns']));
    await api.client.mergePatch(orders, { name: 'a', namespace: 'ns' }, { metadata: { finalizers: [] } });
    await eventually(() => expect(names()).toEqual(['elsewhere']));
  });

  it('tries a failed deletion again', async () => {
    await make(secrets, 'c', {}, [ownedBy('gone')]);
    let refused = 0;
    api.before = ({ verb }) => {
      if (verb === 'delete' && refused++ === 0) throw new ArcError('ServiceUnavailable', 'try later');
    };
    start();
    await eventually(() => expect(names()).toEqual([]));
    expect(refused).toBeGreaterThan(1);
  });

  it('sweeps Events away when their time is over', async () => {
    api.time = '2020-01-01T00:00:00Z';
    await make(events, 'old');
    api.time = new Date().toISOString();
    await make(events, 'new');
    start(20);
    await eventually(() => expect(names()).toEqual(['new']));
  });
});
