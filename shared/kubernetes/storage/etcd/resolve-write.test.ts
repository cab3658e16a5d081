import { describe, expect, it } from 'vitest';
import { fc, runs } from '#shared/base/testing';
import type { WriteResult } from '../interface/store.ts';
import type { EtcdStore } from './etcd-store.ts';
import { makeStore } from './open-etcd.ts';
import { FakeEtcd } from './testing/fake-etcd.ts';

const bytes = (text: string) => Buffer.from(text);
const lost = new Error('14 UNAVAILABLE: Connection dropped');

/** The next transaction happens (or not), then `meanwhile`; its answer gets lost. */
function loseNext(
  etcd: FakeEtcd,
  happens: boolean,
  meanwhile: () => Promise<unknown> = async () => undefined,
) {
  etcd.intercept = async (_, run) => {
    etcd.intercept = (_request, go) => go();
    if (happens) run();
    await meanwhile();
    throw lost;
  };
}

async function opened(): Promise<{ etcd: FakeEtcd; store: EtcdStore }> {
  const etcd = new FakeEtcd();
  const store = makeStore(etcd, { compactionInterval: 0 });
  await store.revision();
  return { etcd, store };
}

describe('a write whose answer got lost', () => {
  it('took place if the key shows it', async () => {
    const { etcd, store } = await opened();
    loseNext(etcd, true);
    expect(await store.create('/a', bytes('1'))).toEqual({ ok: true, revision: 2 });
    loseNext(etcd, true);
    expect(await store.update('/a', bytes('2'), 2)).toEqual({ ok: true, revision: 3 });
    loseNext(etcd, true);
    expect(await store.delete('/a', 3)).toEqual({ ok: true, revision: 4 });
    expect(etcd.calls.filter(({ method }) => method === 'txn')).toHaveLength(3);
  });

  it('is a Timeout while the key is as it was: it may yet take place', async () => {
    const { etcd, store } = await opened();
    loseNext(etcd, false);
    await expect(store.create('/a', bytes('1'))).rejects.toMatchObject({
      code: 'Timeout',
      message: expect.stringContaining('/a'),
    });
    await store.create('/a', bytes('1'));
    loseNext(etcd, false);
    await expect(store.update('/a', bytes('2'), 2)).rejects.toMatchObject({ code: 'Timeout' });
    loseNext(etcd, false);
    await expect(store.delete('/a', 2)).rejects.toMatchObject({ code: 'Timeout' });
  });

  it('is found although others wrote the key since', async () => {
    const { etcd, store } = await opened();
    loseNext(etcd, true, () => store.update('/a', bytes('theirs'), 2));
    expect(await store.create('/a', bytes('1'))).toEqual({ ok: true, revision: 2 });
    loseNext(etcd, true, async () => {
      etcd.putTogether({ '/a': 'x' });
      etcd.putTogether({ '/other': 'x' });
      etcd.putTogether({ '/a': 'y' });
    });
    expect(await store.update('/a', bytes('2'), 3)).toEqual({ ok: true, revision: 4 });
    loseNext(etcd, true, () => store.create('/a', bytes('again')));
    expect(await store.delete('/a', 7)).toEqual({ ok: true, revision: 8 });
  });

  it('was refused if another client was first', async () => {
    const { etcd, store } = await opened();
    loseNext(etcd, false, () => store.create('/a', bytes('theirs')));
    expect(await store.create('/a', bytes('1'))).toMatchObject({ ok: false, current: { revision: 2 } });
    loseNext(etcd, false);
    expect(await store.create('/a', bytes('theirs'))).toMatchObject({ ok: false, current: { revision: 2 } });
    loseNext(etcd, false, () => store.delete('/a', 2));
    expect(await store.update('/a', bytes('2'), 2)).toEqual({ ok: false, current: undefined });
    expect(await store.update('/a', bytes('2'), 77)).toEqual({ ok: false, current: undefined });
  });

  it('is a Timeout if the past that would tell is compacted, or cannot be read', async () => {
    const { etcd, store } = await opened();
    await store.create('/a', bytes('1'));
    loseNext(etcd, true, async () => {
      etcd.putTogether({ '/a': 'x' });
      await etcd.compact({ revision: etcd.putTogether({ '/a': 'y' }) });
    });
    await expect(store.update('/a', bytes('2'), 2)).rejects.toMatchObject({ code: 'Timeout' });
  });

  it('is always reported as it was', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ ...step, happens: fc.boolean() }), { maxLength: 30 }),
        async (steps) => {
          const { etcd, store } = await opened();
          for (const { type, happens, others } of steps) {
            const { item } = await store.get('/a');
            const expected = item?.revision ?? 0;
            let truth: WriteResult | undefined;
            etcd.intercept = async (_, run) => {
              etcd.intercept = (_request, go) => go();
              if (happens) truth = resultOf(run());
              for (const other of others) await disturb(store, etcd, other);
              throw lost;
            };
            const answer = await write(store, type, expected).catch(() => undefined);
            if (answer === undefined) continue;
            if (truth?.ok) expect(answer).toEqual(truth);
            else
              expect(answer.ok).toBe(
                type === 'delete' && others.includes('delete') && expected > 0 && answer.ok,
              );
          }
        },
      ),
      { numRuns: runs(100) },
    ));
});

const step = {
  type: fc.constantFrom('create' as const, 'update' as const, 'delete' as const),
  others: fc.array(fc.constantFrom('put' as const, 'delete' as const, 'elsewhere' as const), {
    maxLength: 1,
  }),
};

let serial = 0;

function write(
  store: EtcdStore,
  type: 'create' | 'update' | 'delete',
  expected: number,
): Promise<WriteResult> {
  serial += 1;
  const value = bytes(`ours ${serial}`);
  if (type === 'create') return store.create('/a', value);
  if (type === 'update') return store.update('/a', value, expected || 1);
  return store.delete('/a', expected || 1);
}

async function disturb(store: EtcdStore, etcd: FakeEtcd, other: 'put' | 'delete' | 'elsewhere') {
  const { item } = await store.get('/a');
  if (other === 'delete' && item) await store.delete('/a', item.revision);
  else etcd.putTogether({ [other === 'put' ? '/a' : '/b']: 'theirs' });
}

function resultOf(answer: object): WriteResult {
  const { succeeded, header } = answer as { succeeded: boolean; header: { revision: string } };
  return succeeded ? { ok: true, revision: Number(header.revision) } : { ok: false, current: undefined };
}
