import { describe, expect, it } from 'vitest';
import { compactForever, compactTo, takeTurn } from './compactor.ts';
import { FakeEtcd } from './testing/fake-etcd.ts';

describe('compaction', () => {
  it('compacts to the revision of the turn before', async () => {
    const etcd = new FakeEtcd();
    const first = await takeTurn(etcd, { version: 0, revision: 0 }, 1000);
    expect(first).toEqual({ version: 1, revision: 2 });
    etcd.putTogether({ '/a': '1' });
    const second = await takeTurn(etcd, first, 1000);
    expect(second).toEqual({ version: 2, revision: 4 });
    expect(etcd.calls.filter(({ method }) => method === 'compact')).toMatchObject([
      { request: { revision: 2 } },
    ]);
  });

  it('lets one of several processes take a turn', async () => {
    const etcd = new FakeEtcd();
    let turns = Array.from({ length: 5 }, () => ({ version: 0, revision: 0 }));
    for (let round = 1; round <= 4; round += 1) {
      turns = await Promise.all(turns.map((turn) => takeTurn(etcd, turn, 1000)));
      expect(turns.every(({ version }) => version === round)).toBe(true);
      expect(etcd.calls.filter(({ method }) => method === 'compact')).toHaveLength(round - 1);
    }
  });

  it('succeeds when the store is compacted further, and refuses a future revision', async () => {
    const etcd = new FakeEtcd();
    for (let at = 0; at < 5; at += 1) etcd.putTogether({ '/a': '1' });
    await compactTo(etcd, 5, 1000);
    await compactTo(etcd, 3, 1000);
    await expect(compactTo(etcd, 99, 1000)).rejects.toMatchObject({ code: 'Timeout' });
  });

  it('reports a failed turn and continues', async () => {
    const etcd = new FakeEtcd();
    const stop = new AbortController();
    const codes: string[] = [];
    let failures = 1;
    etcd.intercept = (request, run) => {
      failures -= 1;
      if (failures >= 0) throw new Error('14 UNAVAILABLE: etcdserver: no leader');
      if ('revision' in request) stop.abort();
      return run();
    };
    await compactForever(etcd, 5, (error) => codes.push(error.code), stop.signal);
    expect(codes).toEqual(['ServiceUnavailable']);
  });
});
