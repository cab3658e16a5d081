import { describe, expect, it } from 'vitest';
import { fc, runs } from '#shared/base/testing';
import type { StoreEvent, WatchBatch } from '../interface/store.ts';
import type { EtcdStore } from './etcd-store.ts';
import { makeStore } from './open-etcd.ts';
import { FakeEtcd } from './testing/fake-etcd.ts';

const options = { compactionInterval: 0, progressInterval: 10 };

/** Reads a watch until `until` events came; `seen` is called after each batch. */
async function collect(
  store: EtcdStore,
  after: number,
  until: number,
  seen: (batch: WatchBatch, events: StoreEvent[]) => void = () => undefined,
): Promise<StoreEvent[]> {
  const events: StoreEvent[] = [];
  for await (const batch of store.watch('/w/', { after, signal: AbortSignal.timeout(10_000) })) {
    events.push(...batch.events);
    seen(batch, events);
    if (events.length >= until) return events;
  }
  return expect.fail(`the watch ended after ${events.length} of ${until} events`);
}

describe('a watch over connections that break', () => {
  it('resumes at its own position, not at the revision of the store', async () => {
    const etcd = new FakeEtcd();
    const store = makeStore(etcd, options);
    for (let at = 0; at < 20; at += 1) etcd.putTogether({ [`/w/${at}`]: 'x' });
    let dropped = 0;
    const events = await collect(store, 1, 20, () => {
      if (dropped < 3) etcd.dropConnections();
      dropped += 1;
    });
    expect(events.map(({ revision }) => revision)).toEqual(Array.from({ length: 20 }, (_, at) => at + 2));
    const starts = etcd.streams.map(({ sent }) => sent[0]?.create_request?.start_revision);
    // Of three events in a message, the last is held back: the next message may hold more of its revision.
    expect(starts.slice(0, 4)).toEqual([2, 4, 6, 8]);
    await store.close();
  });

  it('keeps the events between the confirmation of a watch and its first message', async () => {
    const etcd = new FakeEtcd();
    const store = makeStore(etcd, options);
    for (let at = 0; at < 10; at += 1) etcd.putTogether({ [`/w/${at}`]: 'x' });
    const watching = collect(store, 1, 10);
    // The stream is there and its messages wait: they go down with the first connection.
    await Promise.resolve();
    etcd.dropConnections();
    expect((await watching).map(({ revision }) => revision)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    await store.close();
  });

  it('yields each event once and in order despite broken connections and fragmented messages', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.constantFrom('/w/a', '/w/b', '/w/c', '/x'), { minLength: 1, maxLength: 3 }), {
          minLength: 5,
          maxLength: 30,
        }),
        fc.array(fc.boolean(), { maxLength: 8 }),
        fc.integer({ min: 1, max: 4 }),
        async (revisions, drops, messageEvents) => {
          const etcd = new FakeEtcd();
          etcd.messageEvents = messageEvents;
          const store = makeStore(etcd, options);
          const expected: string[] = [];
          for (const keys of revisions) {
            const revision = etcd.putTogether(Object.fromEntries(keys.map((key) => [key, 'x'])));
            const watched = [...new Set(keys)].filter((key) => key !== '/x');
            expected.push(...watched.map((key) => `${revision} ${key}`));
          }
          if (expected.length === 0) return;
          const rest = [...drops];
          const events = await collect(store, 1, expected.length, (batch) => {
            expect(batch.events.every(({ revision }) => revision <= batch.revision)).toBe(true);
            if (rest.shift()) etcd.dropConnections();
          });
          expect(events.map(({ revision, key }) => `${revision} ${key}`)).toEqual(expected);
          await store.close();
        },
      ),
      { numRuns: runs(30) },
    ));

  it('resumes from the last reported progress, so that a quiet watch outlives compactions', async () => {
    const etcd = new FakeEtcd();
    const store = makeStore(etcd, options);
    const batches = store
      .watch('/w/', { after: 1, signal: AbortSignal.timeout(10_000) })
      [Symbol.asyncIterator]();
    const first = batches.next();
    const revision = etcd.putTogether({ '/x': '1' });
    expect(await first).toEqual({ done: false, value: { events: [], revision } });
    await etcd.compact({ revision });
    const second = batches.next();
    etcd.dropConnections();
    const next = etcd.putTogether({ '/w/a': '1' });
    expect((await second).value).toMatchObject({ events: [{ key: '/w/a' }], revision: next });
    await store.close();
  });

  it('rejects with Expired if its position was compacted while disconnected', async () => {
    const etcd = new FakeEtcd();
    const store = makeStore(etcd, options);
    for (let at = 0; at < 10; at += 1) etcd.putTogether({ [`/w/${at}`]: 'x' });
    const watching = collect(store, 1, 20, (_, events) => {
      if (events.length !== 2) return;
      etcd.dropConnections();
      etcd.compact({ revision: 9 }).catch(expect.fail);
    });
    await expect(watching).rejects.toMatchObject({ code: 'Expired' });
    await store.close();
  });

  it('rejects with Expired rather than give a deletion without the deleted value', async () => {
    const etcd = new FakeEtcd();
    const store = makeStore(etcd, options);
    etcd.putTogether({ '/w/a': '1' });
    await store.delete('/w/a', 2);
    const watching = collect(store, 2, 1);
    await Promise.resolve();
    const [stream] = etcd.streams;
    const header = { cluster_id: '1', member_id: '1', revision: '3', raft_term: '1' };
    const kv = { key: Buffer.from('/w/a'), value: Buffer.of(), mod_revision: '3', create_revision: '0' };
    const event = { type: 'Delete', kv: { ...kv, version: '0', lease: '0' }, prev_kv: null };
    const rest = {
      created: false,
      canceled: false,
      compact_revision: '0',
      cancel_reason: '',
      fragment: false,
    };
    stream?.fail(new Error('14 UNAVAILABLE: gone'));
    etcd.watch = async () => {
      const again = await FakeEtcd.prototype.watch.call(new FakeEtcd());
      again.push(JSON.parse(JSON.stringify({ header, watch_id: '0', ...rest, events: [] })));
      again.push({ header, watch_id: '0', ...rest, events: [event as never] });
      return again;
    };
    await expect(watching).rejects.toMatchObject({ code: 'Expired' });
    await store.close();
  });

  it('ends for good when etcd refuses it for good', async () => {
    const etcd = new FakeEtcd();
    const store = makeStore(etcd, options);
    const watching = collect(store, 1, 1);
    await Promise.resolve();
    etcd.streams[0]?.fail(new Error('7 PERMISSION_DENIED: etcdserver: permission denied'));
    await expect(watching).rejects.toMatchObject({ code: 'ServiceUnavailable' });
    await store.close();
  });
});
