import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../../shared/base/testing/eventually.ts';
import { prepareBridge, startBridge } from '../fixtures/cluster/bridge-process.ts';
import {
  arcPath,
  type Cluster,
  corePath,
  describeCluster,
  startCluster,
} from '../fixtures/cluster/cluster.ts';
import { newNamespace, newOrder } from '../fixtures/cluster/cluster-objects.ts';
import type { Body } from '../fixtures/http/https-client.ts';
import { type Program, start } from '../fixtures/program.ts';

const objects = 500;
const rounds = 20;
const writers = 8;
/** Pause between two rounds of changes, ms: a killed process is back in the next round. */
const betweenRounds = 2_000;

/** Takes events about Orders, in binary mode. */
async function startSink() {
  /** When the last event of the bridge came about an Order: ms of performance.now(). */
  const told = new Map<string, number>();
  /** The newest generation of an Order that the adapter has sent. */
  const generations = new Map<string, number>();
  const state = { status: 202 };
  const server = createServer((request, response) => {
    text(request).then(
      (body) => {
        const { 'ce-kind': kind, 'ce-name': name } = request.headers;
        if (state.status === 202 && kind === 'Order' && typeof name === 'string') {
          if (request.url === '/bridge') told.set(name, performance.now());
          else generations.set(name, (JSON.parse(body) as Body).metadata.generation ?? 0);
        }
        response.writeHead(state.status).end();
      },
      // A sender that was killed.
      () => response.destroy(),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    state,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    told,
    generations,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

describeCluster(
  'watch-bridge beside the adapter of ApiServerSource',
  (machine) => {
    let cluster: Cluster;
    let sink: Awaited<ReturnType<typeof startSink>>;
    const running = new Map<string, Program>();
    const programs: Record<string, () => Program> = {
      bridge: () => startBridge(cluster.plane, `${sink.url}/bridge`),
      adapter: () =>
        start(path.join(machine.assets, 'apiserver-adapter'), [], {
          ...cluster.plane.env,
          NAME: 'arc',
          NAMESPACE: 'arc-system',
          K_SINK: `${sink.url}/adapter`,
          K_SOURCE_CONFIG: JSON.stringify({
            namespaces: ['team'],
            resources: [{ gvr: { Group: 'arc.opendefense.cloud', Version: 'v1alpha1', Resource: 'orders' } }],
            mode: 'Resource',
          }),
        }),
    };
    const startAll = () => {
      for (const [name, begin] of Object.entries(programs)) running.set(name, begin());
    };
    const killAll = () => Promise.all([...running.values()].map((program) => program.kill()));

    beforeAll(async () => {
      cluster = await startCluster(machine, { store: 'etcd' });
      const { plane, api } = cluster;
      sink = await startSink();
      await api.must('POST', corePath('namespaces'), newNamespace('team'));
      await prepareBridge(plane);
      startAll();
    }, 180_000);
    afterAll(async () => {
      await killAll();
      await cluster?.stop();
      sink?.close();
    }, 60_000);

    /** Changes what the Order asks for; repeats until the API takes it. */
    async function change(name: string, round: number): Promise<{ at: number; generation: number }> {
      const { spec } = newOrder({ name }, `team/app:${round}`);
      for (;;) {
        const sent = cluster.api.send('PATCH', arcPath('orders', 'team', name), { spec });
        const reply = await sent.catch(() => undefined);
        if (reply?.code === 200)
          return { at: performance.now(), generation: reply.body().metadata.generation ?? 0 };
        await sleep(100);
      }
    }

    /** Compacts all history of etcd, so that a watch of an older revision gets 410 Gone. */
    async function compact(): Promise<void> {
      const ask = async (what: string, body: object) => {
        const init = { method: 'POST', body: JSON.stringify(body) };
        const response = await fetch(`${cluster.plane.etcd}/v3/kv/${what}`, init);
        return (await response.json()) as { header: { revision: string } };
      };
      const { header } = await ask('range', { key: Buffer.from('/').toString('base64') });
      await ask('compaction', { revision: header.revision });
    }

    it('sends an event after the last of 10,000 changes of each Order, despite kills, refusals and a compaction', {
      timeout: 600_000,
    }, async () => {
      const names = Array.from({ length: objects }, (_, at) => `order-${at}`);
      for (const name of names) await cluster.api.must('POST', arcPath('orders', 'team'), newOrder({ name }));
      await eventually('both to send events', 60_000, async () => {
        for (const program of running.values()) program.mustRun();
        await change('order-0', 0);
        await sleep(500);
        expect([sink.told.has('order-0'), sink.generations.has('order-0')]).toEqual([true, true]);
      });
      const kill = async () => {
        await killAll();
        startAll();
      };
      const refuse = async () => {
        sink.state.status = 503;
        await sleep(5_000);
        sink.state.status = 202;
      };
      const compactUnderThem = async () => {
        await cluster.ours.first.kill();
        await compact();
        await cluster.ours.first.start();
      };
      const disturbances = new Map([
        [4, kill],
        [8, refuse],
        [12, compactUnderThem],
        [16, kill],
      ]);
      const changed = new Map<string, { at: number; generation: number }>();
      const count = (isLost: (name: string, change: { at: number; generation: number }) => boolean) =>
        [...changed].filter(([name, last]) => isLost(name, last)).length;
      /** Orders of which the bridge has sent nothing since their last change was answered: an event before may be of an earlier one. */
      const lostByBridge = () => count((name, { at }) => (sink.told.get(name) ?? 0) < at);
      const lostByAdapter = () =>
        count((name, { generation }) => (sink.generations.get(name) ?? 0) < generation);
      const lost: Record<string, number> = {};
      for (let round = 1; round <= rounds; round += 1) {
        const disturb = disturbances.get(round);
        const left = [...names];
        const write = async () => {
          for (let name = left.pop(); name !== undefined; name = left.pop())
            changed.set(name, await change(name, round));
        };
        await Promise.all([disturb?.(), ...Array.from({ length: writers }, write)]);
        await sleep(betweenRounds);
        if (disturb === undefined) continue;
        await eventually(`the bridge to have told of each change of round ${round}`, 120_000, () =>
          expect(lostByBridge()).toBe(0),
        );
        lost[`${disturb.name}, round ${round}`] = lostByAdapter();
      }
      await eventually('the bridge to have told of the last changes', 120_000, () =>
        expect(lostByBridge()).toBe(0),
      );
      lost['at the end'] = lostByAdapter();
      console.log(`Orders of which the adapter lost the last change, of ${objects}: ${JSON.stringify(lost)}`);
      running.get('adapter')?.mustRun();
    });
  },
  'apiserver-adapter',
);
