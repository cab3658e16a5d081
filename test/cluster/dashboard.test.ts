import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endpoints, namespaces, type OrderStatus, orders } from '#shared/domain';
import { connect } from '../../scripts/arcctl/core/session.ts';
import { type Dashboard, startDashboard } from '../../scripts/arcctl/console/server/serve.ts';
import { quietIo } from '../../scripts/arcctl/testing/quiet-io.ts';
import { eventually } from '../../shared/base/testing/eventually.ts';
import { endpoint, order } from '../../shared/domain/testing/objects.ts';
import { browserProgram, hasBrowser, openBrowser } from '../fixtures/browser.ts';
import { startApi, type TestApi } from '../fixtures/standalone/api-server.ts';

// It needs no cluster: it is here for what it takes.
if (process.env.CI && !hasBrowser)
  throw new Error(`this machine lacks ${browserProgram}: install Chromium, or set ARC_CHROMIUM`);
const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const many = 5_000;

describe.skipIf(!hasBrowser)('the dashboard in a browser', { timeout: 300_000 }, () => {
  let api: TestApi;
  let dashboard: Dashboard;
  let browser: Browser;
  const problems: string[] = [];

  beforeAll(async () => {
    api = await startApi();
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } };
    await api.admin.create(namespaces, namespace);
    for (const name of ['small', 'other']) await create(name, 2);
    await create('large', many);
    await status('small', { phase: 'Failed', message: 'not all has arrived' });
    const source = { ...endpoint('source'), metadata: { name: 'source', namespace: 'team' } };
    await api.admin.create(endpoints, source);
    const cluster = await connect(quietIo({ env: { KUBECONFIG: api.kubeconfig } }), {});
    dashboard = await startDashboard(cluster, { port: 0 });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await dashboard?.close();
    await api?.[Symbol.asyncDispose]();
  });

  async function create(name: string, artifacts: number): Promise<void> {
    const images = Array.from({ length: artifacts }, (_, index) => `image-${index}:1`);
    await api.admin.create(orders, { ...order(name, images), metadata: { name, namespace: 'team' } });
  }

  function status(name: string, value: OrderStatus) {
    const options = { subresource: 'status' } as const;
    return api.admin.mergePatch(orders, { namespace: 'team', name }, { status: value }, options);
  }

  /** A page that is signed in, and notes what the browser complains of: a broken policy, a script that fails. */
  async function open(where: string, options: Parameters<Browser['newPage']>[0] = {}): Promise<Page> {
    const page = await browser.newPage(options);
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) problems.push(message.text());
    });
    page.on('pageerror', (error) => problems.push(error.message));
    await page.goto(dashboard.url);
    await page.waitForURL(new URL('/', dashboard.url).href);
    await page.goto(new URL(where, dashboard.url).href);
    return page;
  }

  const pages = [
    '/',
    '/orders/team/small',
    '/orders/team/small/retry',
    '/orders/team/small/manifest',
    '/endpoints',
    '/throughput',
  ];

  it.each([
    ['light', 1280],
    ['dark', 400],
  ] as const)('has nothing that axe finds, %s and %d pixels wide', async (colorScheme, width) => {
    for (const where of pages) {
      // Its script is given to the page by the debugger: the policy of the page lets no other one in.
      const page = await open(where, { colorScheme, viewport: { width, height: 800 } });
      await page.evaluate(await readFile(axe, 'utf8'));
      const found: unknown = await page.evaluate(
        'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))',
      );
      expect(found, where).toEqual([]);
      await page.close();
    }
  });

  it('shows changes without a reload, and leaves focus and what was typed where it is', async () => {
    const page = await open('/');
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByLabel('Name has').fill('half a name');
    await page.getByRole('link', { name: 'other' }).focus();
    await status('other', { phase: 'Running', message: 'under way' });
    await page.getByRole('row', { name: /other.*Running.*under way/ }).waitFor();
    expect(await page.getByLabel('Name has').inputValue()).toBe('half a name');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('other');
    await create('new', 1);
    await page.getByRole('link', { name: 'new' }).waitFor();
    await page.close();
  });

  it('asks, does it, and says so: by keyboard, without script too', async () => {
    for (const javaScriptEnabled of [true, false]) {
      const page = await open('/orders/team/other', { javaScriptEnabled });
      await page.getByRole('link', { name: 'suspend…' }).press('Enter');
      await page.getByRole('button', { name: 'Yes, suspend' }).press('Enter');
      await page.getByText('other: suspended').waitFor();
      expect((await api.admin.get(orders, { namespace: 'team', name: 'other' }))?.spec.suspend).toBe(true);
      await page.close();
      await api.admin.mergePatch(orders, { namespace: 'team', name: 'other' }, { spec: { suspend: null } });
    }
  });

  it(`shows an Order of ${many} artifacts in parts, and each change`, async () => {
    const page = await open('/orders/team/large');
    expect(await page.getByRole('row').count()).toBe(101);
    await page.getByText('Live', { exact: true }).waitFor();
    for (const phase of ['Running', 'Succeeded']) {
      const begun = performance.now();
      await status('large', { artifactWorkflows: allIn(phase) });
      const written = performance.now();
      await page.getByRole('row', { name: new RegExp(`#99 .*${phase}`) }).waitFor();
      const ms = [written - begun, performance.now() - written].map(Math.round);
      console.log(`${many} artifacts ${phase}: written in ${ms[0]} ms, shown ${ms[1]} ms later`);
    }
    await page.getByRole('link', { name: 'Next' }).click();
    await page.getByRole('row', { name: /#199 / }).waitFor();
    await page.close();
  });

  it('watches nothing once the pages are closed', async () => {
    await eventually('no watch', 30_000, async () => expect(api.watches()).toBe(0));
  });

  it('makes the browser complain of nothing', () => expect(problems).toEqual([]));

  function allIn(phase: string): NonNullable<OrderStatus['artifactWorkflows']> {
    const entry = (_: unknown, index: number) => [`index-${index}`, { artifactIndex: index, phase }] as const;
    return Object.fromEntries(Array.from({ length: many }, entry));
  }
});
