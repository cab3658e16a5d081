import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { randomIntegers } from '#shared/base/testing';
import { openEmbeddedStore, type Store, type WatchBatch } from '#shared/kubernetes/storage';
import type { KindDefinition } from '../kinds/definition.ts';
import { objectKey } from '../registry/keys.ts';
import { group, kinds } from '../testing/test-server.ts';
import type { HardLimit } from './limits.ts';
import { createQuota, type Quota } from './quota.ts';
import type { ResourceUsage } from './usage-account.ts';

const definition = kinds.find(({ plural }) => plural === 'widgets') as KindDefinition;
const collection = `/registry/${group}/widgets/team/`;
const patience = AbortSignal.timeout(60_000);

describe('createQuota', () => {
  let folder: string;
  let store: Store;
  let limits: HardLimit[];
  let stop: AbortController;

  const follow = (over: Store = store): Quota =>
    createQuota(
      over,
      {
        group,
        limitsOf: () => limits,
        writeRate: () => ({ perMinute: 1e9, source: 'of a test' }),
        isExempt: () => false,
      },
      { signal: stop.signal, onFailure: () => undefined, now: () => new Date() },
    );
  const limit = (measure: keyof ResourceUsage, hard: number): HardLimit => ({
    quota: 'ours',
    resource: `${measure === 'objects' ? 'count' : 'bytes'}/widgets`,
    measure,
    hard,
  });
  const create = (quota: Quota, name: string, bytes = 10) =>
    quota.run(
      { definition, namespace: 'team', name, growth: { objects: 1, bytes }, signal: () => patience },
      () => store.create(objectKey(definition, 'team', name), new Uint8Array(bytes)),
    );
  const remove = async (name: string) => {
    const key = objectKey(definition, 'team', name);
    await store.delete(key, (await store.get(key)).item?.revision ?? 0);
  };
  const outcomes = async (creates: Promise<unknown>[]) => {
    const all = await Promise.allSettled(creates);
    const refused = all.filter(({ status }) => status === 'rejected');
    return { admitted: all.length - refused.length, refused: refused.length };
  };
  const counted = async () => {
    const { items } = await store.list(collection);
    return { objects: items.length, bytes: items.reduce((sum, { value }) => sum + value.byteLength, 0) };
  };

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'arc-quota-'));
    store = await openEmbeddedStore({ folder });
    limits = [];
    stop = new AbortController();
  });
  afterEach(async () => {
    stop.abort();
    await store.close();
    await rm(folder, { recursive: true });
  });

  it('admits exactly as many concurrent writes as fit', async () => {
    limits = [limit('objects', 7)];
    const quota = follow();
    expect(await outcomes(Array.from({ length: 50 }, (_, index) => create(quota, `w-${index}`)))).toEqual({
      admitted: 7,
      refused: 43,
    });
    expect(await counted()).toMatchObject({ objects: 7 });
  });

  it('reports quota, requested, used and limited of all exceeded limits, like kube-apiserver', async () => {
    limits = [limit('objects', 1), limit('bytes', 15), { ...limit('objects', 0), quota: 'another' }];
    limits.reverse();
    const quota = follow();
    await expect(create(quota, 'first')).rejects.toThrow(
      'widgets.test.example.com "first" is forbidden: exceeded quota: another, requested: count/widgets=1, used: count/widgets=0, limited: count/widgets=0',
    );
    limits = limits.slice(1);
    await create(quota, 'first');
    await expect(create(quota, 'second')).rejects.toMatchObject({
      code: 'Forbidden',
      message:
        'widgets.test.example.com "second" is forbidden: exceeded quota: ours, requested: bytes/widgets=10,count/widgets=1, used: bytes/widgets=10,count/widgets=1, limited: bytes/widgets=15,count/widgets=1',
      details: { name: 'second', group, kind: 'widgets' },
    });
  });

  it('admits a write that fits after a write in flight has failed', async () => {
    limits = [limit('objects', 1)];
    const quota = follow();
    const failing = Promise.withResolvers<never>();
    const begun = Promise.withResolvers<void>();
    const growth = { objects: 1, bytes: 1 };
    const write = { definition, namespace: 'team', name: 'a', growth, signal: () => patience };
    const broken = quota.run(write, () => {
      begun.resolve();
      return failing.promise;
    });
    await begun.promise;
    const waits = create(quota, 'b');
    failing.reject(new ArcError('ServiceUnavailable', 'the store is away'));
    await expect(broken).rejects.toThrow('the store is away');
    expect(await waits).toMatchObject({ ok: true });
  });

  it('gives up the wait for others with the request', async () => {
    limits = [limit('objects', 1)];
    const quota = follow();
    const hanging = Promise.withResolvers<undefined>();
    const write = { definition, namespace: 'team', name: 'a', growth: { objects: 1, bytes: 1 } };
    const first = quota.run({ ...write, signal: () => patience }, () => hanging.promise);
    const control = new AbortController();
    const second = quota.run({ ...write, signal: () => control.signal }, () => hanging.promise);
    setTimeout(() => control.abort(), 20);
    await expect(second).rejects.toMatchObject({ code: 'Timeout' });
    hanging.resolve(undefined);
    await first;
  });

  it('counts existing objects after a restart', async () => {
    limits = [limit('objects', 3)];
    const before = follow();
    await outcomes(Array.from({ length: 5 }, (_, index) => create(before, `w-${index}`)));
    stop.abort();
    stop = new AbortController();
    await expect(create(follow(), 'more')).rejects.toThrow('used: count/widgets=3,');
  });

  it('frees quota as soon as a delete returns', async () => {
    limits = [limit('objects', 1)];
    const quota = follow();
    for (let turn = 0; turn < 20; turn += 1) {
      await create(quota, `w-${turn}`);
      await expect(create(quota, 'too-many')).rejects.toThrow('exceeded quota');
      await remove(`w-${turn}`);
    }
  });

  it('counts namespaces by themselves', async () => {
    limits = [limit('objects', 1)];
    const quota = follow();
    await create(quota, 'a');
    const other = quota.run(
      { definition, namespace: 'other', name: 'a', growth: { objects: 1, bytes: 1 }, signal: () => patience },
      () => store.create(objectKey(definition, 'other', 'a'), new Uint8Array(1)),
    );
    expect(await other).toMatchObject({ ok: true });
  });

  it('never exceeds a limit under concurrent creates and deletes, and counts correctly', async () => {
    limits = [limit('objects', 12), limit('bytes', 300)];
    const quota = follow();
    const random = randomIntegers();
    let most = { objects: 0, bytes: 0 };
    const lane = async () => {
      for (let turn = 0; turn < 60; turn += 1) {
        const name = `w-${random(0, 30)}`;
        await (random(0, 3) === 0 ? remove(name) : create(quota, name, random(1, 60))).catch(() => undefined);
        const now = await counted();
        most = { objects: Math.max(most.objects, now.objects), bytes: Math.max(most.bytes, now.bytes) };
      }
    };
    await Promise.all(Array.from({ length: 8 }, lane));
    expect(most.objects).toBeLessThanOrEqual(12);
    expect(most.bytes).toBeLessThanOrEqual(300);
    expect(most.bytes).toBeGreaterThan(200);
    // A refusal is by what is stored now.
    await create(quota, 'probe', 1_000).catch(() => undefined);
    expect(Object.fromEntries(quota.account.entries())).toEqual({ [collection]: await counted() });
  });

  it('with two servers on a store, exceeds a limit at most by the writes in flight of the other server', async () => {
    limits = [limit('objects', 100)];
    const [one, two] = [follow(delayed(store)), follow(delayed(store))];
    const lane = async (quota: Quota, name: string) => {
      for (let turn = 0; turn < 60; turn += 1) await create(quota, `${name}-${turn}`).catch(() => undefined);
    };
    const lanes = [0, 1, 2].flatMap((index) => [lane(one, `one-${index}`), lane(two, `two-${index}`)]);
    await Promise.all(lanes);
    const { objects } = await counted();
    expect(objects).toBeGreaterThanOrEqual(100);
    expect(objects).toBeLessThanOrEqual(103);
    await expect(create(one, 'more')).rejects.toThrow('exceeded quota');
    await expect(create(two, 'more')).rejects.toThrow('exceeded quota');
  });

  it('waits until all objects are counted, and rejects with ServiceUnavailable on timeout', async () => {
    limits = [limit('objects', 1)];
    const listing = Promise.withResolvers<void>();
    const slow = over(store, {
      async list(prefix, options) {
        await listing.promise;
        return store.list(prefix, options);
      },
    });
    const quota = follow(slow);
    expect(() => quota.mustBeCounted()).toThrow('are being counted');
    await expect(create(quota, 'early')).rejects.toMatchObject({ code: 'ServiceUnavailable' });
    listing.resolve();
    expect(await create(quota, 'late')).toMatchObject({ ok: true });
    expect(() => quota.mustBeCounted()).not.toThrow();
  });

  it('recounts if its watch has missed events', async () => {
    limits = [limit('objects', 100)];
    let lost = false;
    const forgetful = over(store, {
      async *watch(prefix, options) {
        for await (const batch of store.watch(prefix, options)) {
          if (!lost && batch.events.length > 0) {
            lost = true;
            throw new ArcError('Expired', 'the history is gone');
          }
          yield batch;
        }
      },
    });
    const quota = follow(forgetful);
    for (let index = 0; index < 10; index += 1) await create(quota, `w-${index}`);
    limits = [limit('objects', 10)];
    await expect(create(quota, 'more')).rejects.toThrow('used: count/widgets=10,');
    expect(lost).toBe(true);
    expect(Object.fromEntries(quota.account.entries())).toEqual({ [collection]: await counted() });
  });
});

function over(store: Store, some: Partial<Store>): Store {
  return Object.assign(Object.create(store), {
    ...Object.fromEntries(
      (['get', 'list', 'watch', 'revision', 'requestProgress', 'create', 'delete'] as const).map((name) => [
        name,
        store[name].bind(store),
      ]),
    ),
    synced: true,
    ...some,
  });
}

/** A store whose events come late. */
function delayed(store: Store): Store {
  return over(store, {
    async *watch(prefix, options): AsyncGenerator<WatchBatch, void, undefined> {
      for await (const batch of store.watch(prefix, options)) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        yield batch;
      }
    },
  });
}
