import { describe, expect, it } from 'vitest';
import type { ListOptions, Store } from '#shared/kubernetes/storage';
import { bytes, type OpenStore, text, withStore, written } from './store-support.ts';

/** Lists: ranges, pages, the past. */
export function describeLists(open: OpenStore, taken: 'any' | 'ascii'): void {
  describe('lists', () => {
    it('lists a prefix in byte order, and nothing beside it', () =>
      withStore(open, async ({ store }) => {
        await createAll(store, [
          '/pods/b',
          '/pods/a',
          '/pods',
          '/podsx/a',
          '/pods/a-',
          '/pods/a/',
          '/orders/z',
        ]);
        expect(await keys(store, '/pods/')).toEqual(['/pods/a', '/pods/a-', '/pods/a/', '/pods/b']);
        expect(await keys(store, '/none/')).toEqual([]);
      }));

    it.runIf(taken === 'ascii')('refuses keys of other characters than ASCII', () =>
      withStore(open, async ({ store }) => {
        await expect(store.create('/é', bytes('x'))).rejects.toMatchObject({ code: 'BadRequest' });
        expect(await keys(store, '/')).toEqual([]);
      }),
    );

    it.runIf(taken === 'any')('orders keys by their UTF-8 bytes', () =>
      withStore(open, async ({ store }) => {
        // As UTF-16 units the emoji (d83d de00) would come before U+FF5E.
        await createAll(store, ['/\u{1f600}', '/～', '/é', '/z']);
        expect(await keys(store, '/')).toEqual(['/z', '/é', '/～', '/\u{1f600}']);
      }),
    );

    it('pages with limit, start and the first page’s revision, whatever is written meanwhile', () =>
      withStore(open, async ({ store }) => {
        await createAll(store, ['/a', '/b', '/c', '/d', '/e']);
        const first = await store.list('/', { limit: 2 });
        expect(first.items.map(({ key }) => key)).toEqual(['/a', '/b']);
        expect(first.remaining).toBe(3);
        await changeEverything(store);
        const { revision } = first;
        const second = await store.list('/', { limit: 2, start: '/b\0', revision });
        expect(second.items.map(({ key, value }) => key + text(value))).toEqual(['/c/c', '/d/d']);
        expect(second).toMatchObject({ remaining: 1, revision });
        const third = await store.list('/', { limit: 2, start: '/d\0', revision });
        expect(third.items.map(({ key }) => key)).toEqual(['/e']);
        expect(third.remaining).toBe(0);
      }));

    it('lists everything without a limit and with a limit of 0', () =>
      withStore(open, async ({ store }) => {
        await createAll(store, ['/a', '/b']);
        expect(await store.list('/', { limit: 0 })).toEqual(await store.list('/'));
      }));

    it('lists the past as it was', () =>
      withStore(open, async ({ store }) => {
        await createAll(store, ['/a', '/b', '/c', '/d', '/e']);
        const before = await store.list('/');
        await changeEverything(store);
        const now = await store.list('/');
        expect(now.items.map(({ key }) => key)).toEqual(['/a', '/aa', '/c', '/e']);
        expect(await store.list('/', { revision: before.revision })).toEqual(before);
        expect(await store.list('/', { revision: now.revision })).toEqual(now);
      }));

    it('lists the past after it was opened again', () =>
      withStore(open, async (under) => {
        await createAll(under.store, ['/a', '/b', '/c', '/d', '/e']);
        const before = await under.store.list('/');
        await changeEverything(under.store);
        const store = await under.reopen();
        expect(await store.list('/', { revision: before.revision })).toEqual(before);
      }));

    it('says Expired for a compacted revision and answers the one it was compacted to', () =>
      withStore(open, async (under) => {
        const { store } = under;
        await createAll(store, ['/a', '/b', '/c', '/d', '/e']);
        const before = await store.list('/');
        await changeEverything(store);
        await store.compact(before.revision);
        expect(await store.list('/', { revision: before.revision })).toEqual(before);
        const older = { revision: before.revision - 1 };
        await expect(store.list('/', older)).rejects.toMatchObject({ code: 'Expired' });
        const opened = await under.reopen();
        await expect(opened.list('/', older)).rejects.toMatchObject({ code: 'Expired' });
        expect(await opened.list('/', { revision: before.revision })).toEqual(before);
      }));

    it('says Timeout for a revision that is still to come', () =>
      withStore(open, async ({ store }) => {
        const revision = (await written(store.create('/a', bytes('x')))) + 1;
        await expect(store.list('/', { revision })).rejects.toMatchObject({ code: 'Timeout' });
        await expect(store.compact(revision)).rejects.toMatchObject({ code: 'Timeout' });
      }));

    it('says Timeout when the caller has given up', () =>
      withStore(open, async ({ store }) => {
        const signal = AbortSignal.abort();
        await expect(store.list('/', { signal })).rejects.toMatchObject({ code: 'Timeout' });
        await expect(store.get('/a', { signal })).rejects.toMatchObject({ code: 'Timeout' });
      }));
  });
}

async function createAll(store: Store, all: string[]): Promise<void> {
  for (const key of all) await written(store.create(key, bytes(key)));
}

async function keys(store: Store, prefix: string, options: ListOptions = {}): Promise<string[]> {
  return (await store.list(prefix, options)).items.map(({ key }) => key);
}

/** Deletes, updates, re-creates and adds among /a to /e. */
async function changeEverything(store: Store): Promise<void> {
  const revisions = new Map((await store.list('/')).items.map(({ key, revision }) => [key, revision]));
  const of = (key: string) => revisions.get(key) ?? expect.fail(`${key} is missing`);
  await written(store.delete('/b', of('/b')));
  await written(store.update('/c', bytes('changed'), of('/c')));
  await written(store.delete('/d', of('/d')));
  await written(store.create('/aa', bytes('new')));
  await written(store.delete('/e', of('/e')));
  await written(store.create('/e', bytes('again')));
}
