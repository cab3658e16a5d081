import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { annotations, group, orders } from '#shared/domain';
import { loadPki } from '../../../scripts/standalone/pki.ts';
import { Client } from '../../conformance/client.ts';
import { startReference } from '../../conformance/reference.ts';
import { startEtcd } from '../../fixtures/etcd/process.ts';
import { startOurs } from '../measure/our-server.ts';
import { type Usage, usageOf } from '../measure/process-usage.ts';
import { RawConnection } from '../measure/raw-connection.ts';
import { progress, report } from '../measure/report.ts';
import { changesAtRate, reportLags } from './changes.ts';
import { databaseSize, fill } from './fill.ts';
import { type MeasuredBridge, startBridgeProcess } from './measured-bridge.ts';
import { nameOfOrder, namespaceOfOrder } from './settled.ts';
import { type CountingSink, startSink } from './sink.ts';

/** etcd's largest recommended quota. */
const quota = ['--quota-backend-bytes', String(8 * 2 ** 30)];
const collections = ['orders', 'artifactworkflows'] as const;
const pathOf = (plural: string) => `/apis/${orders.apiVersion}/${plural}`;
const patchHeaders = 'Content-Type: application/merge-patch+json\r\n';

type Tell = (name: string, ours: number, unit: string) => void;

/** `count` settled Orders of one artifact in a real etcd, under our API server and the watch-bridge. */
export async function benchAtRest(assets: string, count: number): Promise<void> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'arc-bench-'));
  const stops: (() => unknown)[] = [() => rm(folder, { recursive: true, force: true })];
  const figure = { bench: 'scale', n: count, less: true } as const;
  const tell: Tell = (name, ours, unit) => report({ ...figure, case: name, ours, unit });
  try {
    const pki = await loadPki(folder, new Date());
    const token = randomBytes(24).toString('hex');
    const tokens = { admin: token, nobody: 'nobody', wrong: 'wrong', anonymous: '' };
    const reference = await startReference(assets, path.join(folder, 'cluster'), pki, tokens);
    stops.push(reference.stop);
    const etcd = await startEtcd(path.join(assets, 'etcd'), quota);
    stops.push(etcd.stop);
    progress(`scale: writing ${count} Orders and as many ArtifactWorkflows`);
    const bytes = await fill(etcd.endpoint, count);
    tell('values in etcd', bytes / 2 ** 20, 'MiB');
    tell('etcd file', await databaseSize(etcd.endpoint), 'MiB');
    const restarted = performance.now();
    await etcd.restart();
    tell('etcd ready', (performance.now() - restarted) / 1_000, 's');
    tell('etcd RSS', (await usageOf(etcd.pid)).mebibytes, 'MiB');

    const parts = { folder: path.join(folder, 'ours'), pki, token, etcd: etcd.endpoint };
    const ours = await startOurs({ ...parts, cluster: reference.server.url });
    stops.push(ours.stop);
    tell('api-server ready', ours.readyAfter, 's');
    tell('api-server RSS', (await usageOf(ours.pid)).mebibytes, 'MiB');
    const connect = () => RawConnection.open(ours.url, pki.ca, token);
    const server = { name: 'ours', url: ours.url, ca: pki.ca, group, tokens } as const;
    await measureLists(await connect(), new Client(server), tell);

    const sink = await startSink();
    stops.push(sink.close);
    const env = { ARC_API_SERVER: ours.url, ARC_TOKEN_FILE: ours.tokenFile, ARC_CA_FILE: ours.caFile };
    const bridge = await startBridgeProcess(folder, { ...env, K_SINK: sink.url });
    stops.push(bridge.stop);
    const { ready, caughtUp } = await bridge.caughtUp();
    tell('bridge ready', ready, 's');
    tell('bridge caught up', caughtUp, 's');
    tell('bridge start', (await bridge.usage()).cpuSeconds, 's of CPU');
    await sleep(20_000);
    const state = await bridge.state();
    progress(`scale: ${JSON.stringify({ ...(await bridge.usage()), ...state, sent: sink.count })}`);
    tell('bridge RSS', (await bridge.usage()).mebibytes, 'MiB');
    tell('due', state.due, 'duties');
    await measureSweeps(bridge, sink, tell);

    const lanes = await Promise.all(Array.from({ length: 16 }, connect));
    const busy = lanes.map(() => Promise.resolve());
    const usages = () => Promise.all([etcd.pid, ours.pid].map(usageOf));
    const before = [...(await usages()), await bridge.usage()];
    const lags = await changesAtRate(sink, count, async (index, begins) => {
      const lane = index % lanes.length;
      const patch = { metadata: { annotations: { [annotations.forceAt]: String(1_600_000_000 + index) } } };
      const place = `namespaces/${namespaceOfOrder(index)}/orders/${nameOfOrder(index)}`;
      const send = async () => {
        const where = `/apis/${orders.apiVersion}/${place}`;
        begins();
        await lanes[lane]?.send('PATCH', where, patchHeaders, JSON.stringify(patch));
      };
      // A connection takes one request at a time.
      busy[lane] = (busy[lane] ?? Promise.resolve()).then(send);
      await busy[lane];
    });
    const after = [...(await usages()), await bridge.usage()];
    reportLags('scale', count, lags, await bridge.state());
    for (const [at, name] of ['etcd', 'api-server', 'bridge'].entries()) {
      const [then, now] = [before[at] as Usage, after[at] as Usage];
      tell(`${name} while it changes`, now.cpuSeconds - then.cpuSeconds, 's of CPU');
      tell(`${name} RSS at the end`, now.mebibytes, 'MiB');
    }
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

async function measureLists(connection: RawConnection, client: Client, tell: Tell): Promise<void> {
  const headers = { authorization: `Bearer ${client.server.tokens.admin}` };
  for (const plural of collections) {
    let began = performance.now();
    const { bytes } = await connection.send('GET', pathOf(plural));
    const seconds = () => (performance.now() - began) / 1_000;
    tell(`list of all ${plural}`, seconds(), 's');
    tell(`list of all ${plural}, answer`, bytes / 2 ** 20, 'MiB');
    began = performance.now();
    let pages = 0;
    let next: string | undefined;
    do {
      const where = `${pathOf(plural)}?limit=500${next === undefined ? '' : `&continue=${next}`}`;
      const { text } = await client.send({ method: 'GET', path: where, headers, body: undefined });
      next = /"continue":"([^"]+)"/.exec(text.slice(0, 1_000))?.[1];
      pages += 1;
    } while (next !== undefined);
    tell(`${plural} in ${pages} pages`, seconds(), 's');
  }
  connection.close();
  client.close();
}

/** Two sweeps: what they cost, and what they send. */
async function measureSweeps(bridge: MeasuredBridge, sink: CountingSink, tell: Tell): Promise<void> {
  const [sent, usage] = [sink.count, await bridge.usage()];
  await sleep(120_000);
  tell('two sweeps, bridge', (await bridge.usage()).cpuSeconds - usage.cpuSeconds, 's of CPU');
  tell('two sweeps, events', sink.count - sent, 'events');
}
