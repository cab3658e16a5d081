import { describe, expect, it } from 'vitest';
import { bytes, type OpenStore, text, withStore, written } from './store-support.ts';

/** Conditional writes, and reads of one key. */
export function describeWrites(open: OpenStore): void {
  describe('writes', () => {
    it('starts above revision 0, which means "any" to Kubernetes', () =>
      withStore(open, async ({ store }) => {
        expect(await store.revision()).toBeGreaterThan(0);
        expect((await store.list('/')).revision).toBe(await store.revision());
      }));

    it('creates a key that is absent and reads it back with its revision', () =>
      withStore(open, async ({ store }) => {
        const revision = await written(store.create('/a', bytes('one')));
        const read = await store.get('/a');
        expect(read.item).toMatchObject({ key: '/a', revision });
        expect(text(read.item?.value)).toBe('one');
        expect(read.revision).toBe(revision);
      }));

    it('answers undefined for a key that is absent', () =>
      withStore(open, async ({ store }) => {
        const revision = await written(store.create('/a', bytes('one')));
        expect(await store.get('/b')).toEqual({ item: undefined, revision });
      }));

    it('refuses to create a key that exists, and returns its item', () =>
      withStore(open, async ({ store }) => {
        const revision = await written(store.create('/a', bytes('one')));
        const result = await store.create('/a', bytes('two'));
        expect(result).toMatchObject({ ok: false, current: { key: '/a', revision } });
        expect(text((await store.get('/a')).item?.value)).toBe('one');
        expect(await store.revision()).toBe(revision);
      }));

    it('updates only from the expected revision', () =>
      withStore(open, async ({ store }) => {
        const first = await written(store.create('/a', bytes('one')));
        const second = await written(store.update('/a', bytes('two'), first));
        expect(second).toBe(first + 1);
        const stale = await store.update('/a', bytes('three'), first);
        expect(stale).toMatchObject({ ok: false, current: { revision: second } });
        expect(text((await store.get('/a')).item?.value)).toBe('two');
      }));

    it('refuses to update or delete a key that is absent', () =>
      withStore(open, async ({ store }) => {
        expect(await store.update('/a', bytes('one'), 7)).toEqual({ ok: false, current: undefined });
        expect(await store.delete('/a', 7)).toEqual({ ok: false, current: undefined });
      }));

    it('deletes only from the expected revision, and lets the key be created again', () =>
      withStore(open, async ({ store }) => {
        const first = await written(store.create('/a', bytes('one')));
        expect(await store.delete('/a', first + 1)).toMatchObject({
          ok: false,
          current: { revision: first },
        });
        const gone = await written(store.delete('/a', first));
        expect((await store.get('/a')).item).toBeUndefined();
        expect(await written(store.create('/a', bytes('two')))).toBe(gone + 1);
      }));

    it('lets one of several writers win when all expect the same revision', () =>
      withStore(open, async ({ store }) => {
        const first = await written(store.create('/a', bytes('start')));
        const writers = Array.from({ length: 50 }, (_, at) => store.update('/a', bytes(`${at}`), first));
        const results = await Promise.all(writers);
        const winners = results.filter((result) => result.ok);
        expect(winners).toEqual([{ ok: true, revision: first + 1 }]);
        const losers = results.filter((result) => !result.ok);
        expect(losers.every(({ current }) => current?.revision === first + 1)).toBe(true);
      }));

    it('gives every write a revision of its own, without gaps', () =>
      withStore(open, async ({ store }) => {
        const before = await store.revision();
        const creates = Array.from({ length: 200 }, (_, at) => written(store.create(`/${at}`, bytes('x'))));
        const revisions = (await Promise.all(creates)).toSorted((a, b) => a - b);
        expect(revisions).toEqual(Array.from({ length: 200 }, (_, at) => before + 1 + at));
      }));

    it('keeps the written value when its buffer changes afterwards', () =>
      withStore(open, async ({ store }) => {
        const value = bytes('one');
        const write = store.create('/a', value);
        value.fill(0);
        await write;
        expect(text((await store.get('/a')).item?.value)).toBe('one');
      }));

    it('stores empty and binary values', () =>
      withStore(open, async ({ store }) => {
        const binary = Uint8Array.from({ length: 256 }, (_, at) => at);
        await Promise.all([store.create('/empty', new Uint8Array()), store.create('/binary', binary)]);
        expect([...((await store.get('/empty')).item?.value ?? [1])]).toEqual([]);
        expect([...((await store.get('/binary')).item?.value ?? [])]).toEqual([...binary]);
      }));

    it('has everything after it was opened again, the revision included', () =>
      withStore(open, async (under) => {
        const first = await written(under.store.create('/a', bytes('one')));
        const second = await written(under.store.create('/b', bytes('two')));
        const last = await written(under.store.delete('/b', second));
        const store = await under.reopen();
        expect(await store.revision()).toBe(last);
        const { items } = await store.list('/');
        expect(items.map(({ key, revision }) => [key, revision])).toEqual([['/a', first]]);
        expect(await written(store.create('/b', bytes('three')))).toBe(last + 1);
      }));

    it('refuses keys it cannot hold', () =>
      withStore(open, async ({ store }) => {
        await expect(store.create('', bytes('x'))).rejects.toMatchObject({ code: 'BadRequest' });
        await expect(store.create(`/${'k'.repeat(4000)}`, bytes('x'))).rejects.toMatchObject({
          code: 'BadRequest',
        });
        await expect(store.create('/\ud800', bytes('x'))).rejects.toMatchObject({ code: 'BadRequest' });
      }));

    it('answers nothing any more once it is closed', () =>
      withStore(open, async ({ store }) => {
        await store.close();
        await expect(store.get('/a')).rejects.toMatchObject({ code: 'ServiceUnavailable' });
        await expect(store.create('/a', bytes('x'))).rejects.toMatchObject({ code: 'ServiceUnavailable' });
      }));
  });
}
