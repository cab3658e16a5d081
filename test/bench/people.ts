import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { mapBounded } from '#shared/base/async';
import { artifactWorkflows, namespaces, orders } from '#shared/domain';
import { startDashboard } from '../../scripts/arcctl/console/server/serve.ts';
import { connect } from '../../scripts/arcctl/core/session.ts';
import { quietIo } from '../../scripts/arcctl/testing/quiet-io.ts';
import { bundleInstalled } from '../../scripts/build/bundle.ts';
import { artifactWorkflow, order } from '../../shared/domain/testing/objects.ts';
import { hasBrowser, openBrowser, openSignedIn } from '../fixtures/browser.ts';
import { startApi, type TestApi } from '../fixtures/standalone/api-server.ts';
import { median, progress, report } from './measure/report.ts';

const rounds = 9;
const [manyOrders, artifactsEach] = [1000, 5];
const namespace = 'team';

/** What people wait for: the first output of arcctl, the first paint of a page, and how late a change is on it. */
export async function benchPeople(): Promise<void> {
  await using api = await startApi();
  await fill(api);
  await benchArcctl(api);
  if (hasBrowser) await benchDashboard(api);
  else progress('people: the dashboard is left out: no Chromium, see test/cluster/README.md');
}

async function fill({ admin }: TestApi): Promise<void> {
  progress(`people: ${manyOrders} Orders of ${artifactsEach} artifacts`);
  await admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  const indexes = Array.from({ length: manyOrders }, (_, index) => index);
  await mapBounded(indexes, 8, AbortSignal.timeout(600_000), async (index) => {
    const name = `order-${index}`;
    const images = Array.from({ length: artifactsEach }, (_, image) => `image-${image}:1`);
    await admin.create(orders, { ...order(name, images), metadata: { name, namespace } });
    for (let artifact = 0; artifact < artifactsEach; artifact += 1) {
      const metadata = { name: `${name}-${artifact}`, namespace };
      await admin.create(artifactWorkflows, { ...artifactWorkflow(metadata.name), metadata });
    }
  });
}

async function benchArcctl({ kubeconfig }: TestApi): Promise<void> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'arc-bench-'));
  try {
    const { file } = await bundleInstalled(folder);
    const commands = {
      version: ['version', '--client'],
      help: ['--help'],
      get: ['get', 'order/order-0', '-n', namespace],
    };
    const bare = ['--eval', 'console.log(1)'];
    const times = new Map<string, number[]>();
    const add = (name: string, value: number) => times.set(name, [...(times.get(name) ?? []), value]);
    for (let round = 0; round < rounds; round += 1) {
      add('node', await firstOutputMs(bare, kubeconfig));
      for (const [name, args] of Object.entries(commands))
        add(name, await firstOutputMs([file, ...args], kubeconfig));
    }
    const theirs = median(times.get('node') ?? []);
    for (const name of Object.keys(commands))
      report({
        bench: 'people',
        case: `arcctl ${name}: first output`,
        n: rounds,
        unit: 'ms',
        less: true,
        ours: median(times.get(name) ?? []),
        theirs,
      });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** From the start of the process to the first byte that it prints. */
async function firstOutputMs(args: readonly string[], kubeconfig: string): Promise<number> {
  const env = { PATH: process.env.PATH, HOME: os.tmpdir(), KUBECONFIG: kubeconfig };
  const begun = performance.now();
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  await once(child.stdout, 'data');
  const ms = performance.now() - begun;
  child.stdout.resume();
  await ended;
  return ms;
}

async function benchDashboard(api: TestApi): Promise<void> {
  const cluster = await connect(quietIo({ env: { KUBECONFIG: api.kubeconfig } }), {});
  const dashboard = await startDashboard(cluster, { port: 0 });
  const browser = await openBrowser();
  try {
    const n = `${manyOrders} Orders, ${manyOrders * artifactsEach} artifacts`;
    for (const where of ['/', '/orders', '/orders/team/order-0']) {
      const page = await browser.newPage();
      const paints: number[] = [];
      await openSignedIn(page, dashboard.url, where);
      for (let round = 0; round < rounds; round += 1) {
        await page.reload();
        paints.push(await firstPaintMs(page));
      }
      report({
        bench: 'people',
        case: `dashboard ${where}: first paint`,
        n,
        ours: median(paints),
        unit: 'ms',
        less: true,
      });
      await page.close();
    }
    const page = await browser.newPage();
    await openSignedIn(page, dashboard.url, '/orders?q=order-999');
    await page.getByText('Live', { exact: true }).waitFor();
    const delays: number[] = [];
    for (let round = 0; round < rounds; round += 1) delays.push(await updateMs(api, page, round));
    report({
      bench: 'people',
      case: 'dashboard: a change is on the page',
      n,
      ours: median(delays),
      unit: 'ms',
      less: true,
    });
  } finally {
    await browser.close();
    await dashboard.close();
  }
}

function firstPaintMs(page: Page): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => {
    const found = (entries) => entries.find(({ name }) => name === 'first-contentful-paint')?.startTime;
    new PerformanceObserver((list) => found(list.getEntries()) && resolve(found(list.getEntries())))
      .observe({ type: 'paint', buffered: true });
  })`);
}

/** From the answer to a write until the browser shows it; the page is drawn at most twice a second. */
async function updateMs({ admin }: TestApi, page: Page, round: number): Promise<number> {
  const message = `change ${round}`;
  const key = { namespace, name: 'order-999' };
  await admin.mergePatch(orders, key, { status: { phase: 'Running', message } }, { subresource: 'status' });
  const written = performance.now();
  await page.getByText(message).waitFor();
  return performance.now() - written;
}
