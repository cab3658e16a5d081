import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  arcPath,
  type Cluster,
  corePath,
  describeCluster,
  startCluster,
} from '../fixtures/cluster/cluster.ts';
import { newNamespace, newOrder } from '../fixtures/cluster/cluster-objects.ts';
import { startLoad } from '../fixtures/cluster/load.ts';
import { compact, type EtcdProcess, startEtcd } from '../fixtures/etcd/process.ts';
import type { WatchEvent } from '../fixtures/http/https-client.ts';

/** Failures that a client may see while a server or etcd is down. */
const passing = /: 50[0-4] |ECONNREFUSED|ECONNRESET|socket hang up|aborted|watch: .*50[0-4]/;

describeCluster('an API server and its etcd that are killed', (machine) => {
  let etcd: EtcdProcess;
  let cluster: Cluster;

  beforeAll(async () => {
    etcd = await startEtcd(path.join(machine.assets, 'etcd'));
    cluster = await startCluster(machine, { store: 'etcd', etcd: etcd.endpoint });
    await cluster.api.must('POST', corePath('namespaces'), newNamespace('crash'));
  }, 180_000);
  afterAll(async () => {
    await cluster?.stop();
    await etcd?.stop();
  }, 60_000);

  it('lose no write and no event, whichever process died, and compact meanwhile', async () => {
    const { plane, ours, api } = cluster;
    const direct = plane.admin(ours.first.url);
    const load = await startLoad('crash', [() => api, () => direct]);
    await load.more(200);

    await ours.first.kill();
    await ours.first.start();
    await load.more(200);

    await etcd.kill();
    await etcd.restart();
    await load.more(200);

    // What every watcher has seen may go: none of them has to list again.
    await compact(etcd.endpoint, load.seen());
    await load.more(200);

    await Promise.all([etcd.kill(), ours.first.kill()]);
    await etcd.restart();
    await ours.first.start();
    await load.more(200);

    await load.finish();
    for (const failure of load.outcome.failures) expect(failure).toMatch(passing);
    expect(load.outcome.failures.length).toBeGreaterThan(0);
  }, 400_000);

  it('answer Expired to a request for a compacted revision', async () => {
    const { ours, api } = cluster;
    const collection = arcPath('orders', 'crash');
    const { metadata } = await api.must('POST', collection, newOrder({ name: 'one' }));
    const old = metadata.resourceVersion ?? '';
    for (const name of ['two', 'three']) await api.must('POST', collection, newOrder({ name }));
    const page = await api.must('GET', `${collection}?limit=1`);
    await api.must('POST', collection, newOrder({ name: 'four' }));
    const now = await api.must('GET', `${collection}?limit=1`);
    await compact(etcd.endpoint, Number(now.metadata.resourceVersion));
    // What it has in memory it could still tell.
    await ours.first.stop();
    await ours.first.start();
    await ours.available();
    const exact = `${collection}?resourceVersion=${old}&resourceVersionMatch=Exact`;
    const rest = `${collection}?limit=1&continue=${page.metadata.continue}`;
    for (const path of [exact, rest]) {
      const reply = await api.send('GET', path);
      expect([path, reply.code, reply.body().reason]).toEqual([path, 410, 'Expired']);
    }
    const received: WatchEvent[] = [];
    const end = AbortSignal.timeout(20_000);
    await api.watch(`${collection}?watch=true&resourceVersion=${old}`, (event) => received.push(event), end);
    expect(received).toEqual([
      { type: 'ERROR', object: expect.objectContaining({ kind: 'Status', code: 410, reason: 'Expired' }) },
    ]);
  }, 120_000);
});
