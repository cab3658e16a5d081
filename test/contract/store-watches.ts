import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Store } from '#shared/kubernetes/storage';
import {
  batchesUntil,
  bytes,
  eventsAfter,
  eventsOf,
  line,
  type OpenStore,
  patience,
  withStore,
  written,
} from './store-support.ts';

/** Watches: replay, live events, progress, endings. */
export function describeWatches(open: OpenStore): void {
  describe('watches', () => {
    it('replays the events after a revision, with the values they replaced', () =>
      withStore(open, async ({ store }) => {
        const start = await written(store.create('/w/a', bytes('1')));
        await writeFour(store, start);
        const events = await eventsAfter(store, '/w/', start, 4);
        expect(events.map(line)).toEqual(fourLines(start));
      }));

    it('replays the same after the store was opened again', () =>
      withStore(open, async (under) => {
        const start = await written(under.store.create('/w/a', bytes('1')));
        await writeFour(under.store, start);
        const events = await eventsAfter(await under.reopen(), '/w/', start, 4);
        expect(events.map(line)).toEqual(fourLines(start));
      }));

    it('sees everything since the beginning from revision 0', () =>
      withStore(open, async ({ store }) => {
        await written(store.create('/w/a', bytes('1')));
        const [event] = await eventsAfter(store, '/w/', 0, 1);
        expect(event).toMatchObject({ type: 'put', key: '/w/a', previous: undefined });
      }));

    it('goes from replay to live without losing, doubling or reordering an event', () =>
      withStore(open, async ({ store }) => {
        const start = await store.revision();
        const writing = writeMany(store, 500);
        const batches = await batchesUntil(store, '/w/', start, (seen) => eventsOf(seen).length >= 500);
        const revisions = eventsOf(batches).map(({ revision }) => revision);
        expect(revisions).toEqual((await writing).toSorted((a, b) => a - b));
        for (const { events, revision } of batches) {
          expect(events.every((event) => event.revision <= revision)).toBe(true);
        }
      }));

    it('misses nothing between a list and the watch after it, while others write', () =>
      withStore(open, async ({ store }) => {
        const writing = Promise.all(Array.from({ length: 16 }, (_, lane) => writeLane(store, lane, 40)));
        const follow = async () => {
          const { items, revision } = await store.list('/w/');
          const events = await eventsAfter(store, '/w/', revision, 16 * 40 - items.length);
          return [...items, ...events].map(({ key }) => key).toSorted();
        };
        const following = Array.from({ length: 20 }, async (_, at) => {
          await sleep(at * 50);
          return follow();
        });
        const seen = await Promise.allSettled([writing, ...following]);
        const all = (await store.list('/w/')).items.map(({ key }) => key).toSorted();
        expect(all).toHaveLength(16 * 40);
        expect(seen.slice(1)).toEqual(following.map(() => ({ status: 'fulfilled', value: all })));
      }));

    it('shows many watchers the same events', () =>
      withStore(open, async ({ store }) => {
        const start = await store.revision();
        const watching = Array.from({ length: 200 }, () => eventsAfter(store, '/w/', start, 50));
        await writeMany(store, 50);
        const [first, ...others] = (await Promise.all(watching)).map((events) => events.map(line));
        expect(first).toHaveLength(50);
        for (const other of others) expect(other).toEqual(first);
      }));

    it('reports progress to a watch while others write elsewhere', () =>
      withStore(open, async ({ store }) => {
        const start = await store.revision();
        const progress = batchesUntil(store, '/w/', start, ([batch]) => batch !== undefined);
        const foreign = await written(store.create('/other/a', bytes('1')));
        const [batch] = await progress;
        expect(batch).toEqual({ events: [], revision: foreign });
        const next = await written(store.create('/w/a', bytes('2')));
        expect((await eventsAfter(store, '/w/', foreign, 1)).map(({ revision }) => revision)).toEqual([next]);
      }));

    it('waits for a revision that is still to come', () =>
      withStore(open, async ({ store }) => {
        const start = await store.revision();
        const watching = eventsAfter(store, '/w/', start + 2, 1);
        for (const key of ['/w/a', '/w/b', '/w/c']) await written(store.create(key, bytes('1')));
        expect((await watching).map(({ key }) => key)).toEqual(['/w/c']);
      }));

    it('ends when its signal is aborted, while it waits and before it began', () =>
      withStore(open, async ({ store }) => {
        const stop = new AbortController();
        const after = await store.revision();
        const waiting = drain(store, after, stop.signal);
        await written(store.create('/other', bytes('1')));
        stop.abort();
        expect(await waiting).toEqual([]);
        expect(await drain(store, after, AbortSignal.abort())).toEqual([]);
      }));

    it('rejects with Expired when it would start before the history', () =>
      withStore(open, async ({ store }) => {
        const start = await store.revision();
        const revisions = await writeMany(store, 10);
        const newest = Math.max(...revisions);
        await store.compact(newest);
        await expect(drain(store, start, patience())).rejects.toMatchObject({ code: 'Expired' });
        const next = await written(store.create('/w/next', bytes('1')));
        expect((await eventsAfter(store, '/w/', newest, 1)).map(({ revision }) => revision)).toEqual([next]);
      }));

    it('says ServiceUnavailable when the store is closed', () =>
      withStore(open, async ({ store }) => {
        const ended = expect(drain(store, await store.revision(), patience())).rejects.toMatchObject({
          code: 'ServiceUnavailable',
        });
        await store.close();
        await ended;
      }));
  });
}

/** The keys of all events until the watch ends. */
async function drain(store: Store, after: number, signal: AbortSignal): Promise<string[]> {
  const keys: string[] = [];
  for await (const { events } of store.watch('/w/', { after, signal }))
    keys.push(...events.map(({ key }) => key));
  return keys;
}

async function writeFour(store: Store, start: number): Promise<void> {
  await written(store.update('/w/a', bytes('2'), start));
  await written(store.create('/x/a', bytes('elsewhere')));
  await written(store.create('/w/b', bytes('3')));
  await written(store.delete('/w/a', start + 1));
  await written(store.create('/w/a', bytes('4')));
}

function fourLines(start: number): string[] {
  return [
    `put /w/a@${start + 1} 2 was 1@${start}`,
    `put /w/b@${start + 3} 3`,
    `delete /w/a@${start + 4} was 2@${start + 1}`,
    `put /w/a@${start + 5} 4`,
  ];
}

/** Creates keys one after the other. */
async function writeLane(store: Store, lane: number, count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) await written(store.create(`/w/${lane}-${at}`, bytes('x')));
}

function writeMany(store: Store, count: number): Promise<number[]> {
  return Promise.all(
    Array.from({ length: count }, (_, at) => written(store.create(`/w/${at}`, bytes(`${at}`)))),
  );
}
