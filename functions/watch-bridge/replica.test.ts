import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createLogger, createMetrics } from '#shared/base/telemetry';
import { type Order, orders, shardOf } from '#shared/domain';
import { FakeClock } from '../../shared/base/async/testing/fake-clock.ts';
import { order } from '../../shared/domain/testing/objects.ts';
import { FakeApi } from '../../shared/kubernetes/client/testing/fake-api/fake-api.ts';
import { type Replica, runReplica } from './replica.ts';

const closers: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A broker that writes down who sent what. */
async function startSink() {
  const taken: { sender: string; uid: string; step: string }[] = [];
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const { 'ce-uid': uid, 'ce-step': step } = request.headers;
      taken.push({ sender: request.url?.slice(1) ?? '', uid: String(uid), step: String(step) });
      response.writeHead(202).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(
    () => server.close(),
    () => server.closeAllConnections(),
  );
  return { taken, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

type Started = Replica & { metrics(): string; stop(): Promise<void> };

function startReplica(api: FakeApi, sink: string, name: string, shards: number): Started {
  const control = new AbortController();
  const metrics = createMetrics();
  // For the Leases alone, so that seconds of them pass in a moment.
  const clock = new FakeClock();
  const timer = setInterval(() => clock.advance(500), 20);
  const replica = runReplica({
    api: api.client,
    sink: { url: new URL(`${sink}/${name}`) },
    log: createLogger({ name: 'test', level: 'silent' }),
    metrics,
    signal: control.signal,
    namespace: 'arc-system',
    identity: name,
    shards,
    steadyClock: clock,
  });
  const stop = async () => {
    control.abort();
    await replica.done;
    clearInterval(timer);
  };
  closers.push(stop);
  return { ...replica, metrics: () => metrics.expose(), stop };
}

let made = 0;
function makeOrders(api: FakeApi, count: number): Order[] {
  return Array.from({ length: count }, () => {
    made += 1;
    return api.put(order(`order-${made}`, ['a:1'])) as Order;
  });
}

const uidsOf = (all: readonly Order[]) => all.map(({ metadata }) => metadata.uid ?? '');
const poll = { timeout: 20_000 };

describe('runReplica', () => {
  it('leads all shards alone, is ready then, and sends what is due of each object', async () => {
    const api = new FakeApi();
    const { taken, url } = await startSink();
    const replica = startReplica(api, url, 'a', 3);
    expect(replica.ready()).toBe(false);
    await expect.poll(() => replica.leads(), poll).toEqual([0, 1, 2]);
    await expect.poll(() => replica.ready(), poll).toBe(true);
    for (const shard of [0, 1, 2]) {
      expect(replica.metrics()).toContain(`arc_bridge_leader{shard="${shard}"} 1\n`);
      expect(replica.metrics()).toContain(`arc_bridge_depth{shard="${shard}"} 0\n`);
    }
    const uids = uidsOf(makeOrders(api, 12));
    await expect.poll(() => new Set(taken.map(({ uid }) => uid)), poll).toEqual(new Set(uids));
    expect(new Set(taken.map(({ step }) => step))).toEqual(new Set(['decompose']));
  });

  it('shares the shards with others, and what one of them leaves is led and announced by the rest', async () => {
    const api = new FakeApi();
    const { taken, url } = await startSink();
    const all = ['a', 'b', 'c'].map((name) => startReplica(api, url, name, 3));
    await expect.poll(() => all.map((one) => one.leads().length), poll).toEqual([1, 1, 1]);
    await expect.poll(() => all.every((one) => one.ready()), poll).toBe(true);
    const leaders = new Map(all.flatMap((one, at) => one.leads().map((shard) => [shard, 'abc'[at]])));
    const first = uidsOf(makeOrders(api, 12));
    await expect.poll(() => new Set(taken.map(({ uid }) => uid)), poll).toEqual(new Set(first));
    for (const { sender, uid } of taken) expect(sender).toBe(leaders.get(shardOf(uid, 3)));

    const [gone, ...rest] = all;
    await gone?.stop();
    const whileNobodyLed = uidsOf(makeOrders(api, 12));
    await expect.poll(() => rest.flatMap((one) => one.leads()).toSorted(), poll).toEqual([0, 1, 2]);
    await expect
      .poll(() => taken.map(({ uid }) => uid), poll)
      .toEqual(expect.arrayContaining(whileNobodyLed));
  });

  it('loses nothing while one shard becomes three, and three become two', async () => {
    const api = new FakeApi();
    const { taken, url } = await startSink();
    const uids = uidsOf(makeOrders(api, 5));
    let before = [startReplica(api, url, '1', 1)];
    for (const shards of [3, 2]) {
      uids.push(...uidsOf(makeOrders(api, 5)));
      const next = [
        startReplica(api, url, `${shards}-a`, shards),
        startReplica(api, url, `${shards}-b`, shards),
      ];
      uids.push(...uidsOf(makeOrders(api, 5)));
      // As a rolling update does it: the old ones end when the new ones are ready.
      await expect.poll(() => next.every((one) => one.ready()), poll).toBe(true);
      for (const one of before) await one.stop();
      uids.push(...uidsOf(makeOrders(api, 5)));
      before = next;
    }
    await expect.poll(() => new Set(taken.map(({ uid }) => uid)), poll).toEqual(new Set(uids));
    expect(
      new Set(api.all().flatMap(({ kind, metadata }) => (kind === 'Lease' ? [metadata.name] : []))),
    ).toEqual(
      new Set([
        'watch-bridge',
        ...['0-of-3', '1-of-3', '2-of-3', '0-of-2', '1-of-2'].map((name) => `watch-bridge-${name}`),
      ]),
    );
    expect(api.all(orders).length).toBe(uids.length);
  });
});
