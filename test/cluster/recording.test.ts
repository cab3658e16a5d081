import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubeObject } from '#shared/base/meta';
import { type Order, orders } from '#shared/domain';
import { seedImage, startRegistry } from '#shared/local';
import { bundleInstalled } from '../../scripts/build/bundle.ts';
import { apply } from '../../scripts/demo/apply.ts';
import { namespace, orderOf, tenantObjects } from '../../scripts/demo/objects.ts';
import { eventually } from '../../shared/base/testing/eventually.ts';
import { browserProgram, hasBrowser, openBrowser } from '../fixtures/browser.ts';
import { act, openOrder, seeArtifact, seeLiveLog } from '../fixtures/seen-order.ts';
import { workerCommand } from '../fixtures/standalone/conduit.ts';
import { spawnStandalone } from '../fixtures/standalone/process.ts';
import { pictureOf } from '../fixtures/terminal/picture.ts';
import { runOnTerminal, terminalProgram } from '../fixtures/terminal/terminal.ts';

/** Where pictures of what was seen are left. Those of README.md are asked for by `npm run pictures`, and a CI run may keep all. */
const pictures = process.env.ARC_PICTURES;
const mostPictureBytes = 300 * 1024;
const name = 'images';

if (process.env.CI && !hasBrowser)
  throw new Error(`this machine lacks ${browserProgram}: install Chromium, or set ARC_CHROMIUM`);

/** What a person does from `npm start` on, with the command line and the browser side by side. */
describe.skipIf(!hasBrowser || !existsSync(terminalProgram))(
  'an Order as people see and drive it',
  { timeout: 300_000 },
  () => {
    const stack = new AsyncDisposableStack();
    let arcctl: (words: string, rows?: number) => ReturnType<typeof runOnTerminal>;
    let seedLost: () => Promise<unknown>;
    let read: () => Promise<Order | undefined>;
    let page: Page;

    beforeAll(async () => {
      const folder = await mkdtemp(path.join(os.tmpdir(), 'arc-seen-'));
      stack.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
      const [{ file }, standalone, source, destination] = await Promise.all([
        bundleInstalled(folder),
        spawnStandalone({
          folder: path.join(folder, 'state'),
          programs: { 'artifact-conduit:*': workerCommand(1).join(' ') },
        }),
        startRegistry(),
        startRegistry(),
      ]);
      stack.defer(async () => void (await standalone.stop()));
      for (const registry of [source, destination]) stack.defer(() => registry.close());
      const browser = await openBrowser();
      stack.defer(() => browser.close());

      const image = { platforms: ['linux/amd64'], layers: 2, layerBytes: 1024 * 1024, signature: false };
      await seedImage(source, 'team/app', '1.0', image);
      await seedImage(source, 'team/tools', '2.1', { ...image, layerBytes: 4 * 1024 * 1024 });
      seedLost = () => seedImage(source, 'team/charts', '0.3', image);
      const drip = { kind: 'drip', bytes: 32 * 1024, everyMs: 500 } as const;
      source.faults.add({ fault: drip, path: /team\/tools\/blobs\//, times: 1000 });

      for (const object of tenantObjects(source, destination))
        await apply(standalone.admin, object, AbortSignal.timeout(30_000));
      await apply(standalone.admin, story(), AbortSignal.timeout(30_000));
      read = () => standalone.admin.get(orders, { namespace, name });
      const env = { PATH: process.env.PATH, HOME: folder, KUBECONFIG: standalone.kubeconfig };
      // A person types `arcctl`.
      const shim = path.join(folder, 'bin', 'arcctl');
      await mkdir(path.dirname(shim));
      await writeFile(shim, `#!/bin/sh\nexec ${process.execPath} ${file} "$@"\n`, { mode: 0o755 });
      env.PATH = `${path.dirname(shim)}:${env.PATH}`;
      arcctl = (words, rows = 30) =>
        runOnTerminal(`printf '$ arcctl ${words}\\n'; arcctl ${words}`, { env, rows, columns: 120 });
      page = await browser.newPage({ viewport: { width: 1280, height: 1000 }, colorScheme: 'light' });
      await page.goto(standalone.dashboard);
      await page.waitForURL(new URL('/', standalone.dashboard).href);
    });
    afterAll(() => stack.disposeAsync());

    it('one has arrived, one has failed, one is under way', async () => {
      await openOrder(page, name);
      await seeArtifact(page, 'app', 'Succeeded');
      await seeArtifact(page, 'charts', 'Failed.*team/charts:0\\.3 does not exist');
      await seeArtifact(page, 'tools', 'Running.*iB/s');
      await seeLiveLog(page, 'charts');
      const watch = arcctl(`watch ${name} -n ${namespace}`);
      await eventually('the bars', 60_000, async () => {
        const shown = await watch.screen();
        expect(shown).toContainEqual(expect.stringMatching(/^ {2}app {10}█{30} 100% {2}Succeeded/));
        expect(shown).toContainEqual(expect.stringMatching(/^ {2}tools .*% {2}Running {2}.*left/));
        expect(shown).toContainEqual(expect.stringMatching(/^ {2}charts .*Failed/));
      });
      await keepTerminal('watch', watch, 'arcctl watch with a bar for each of three artifacts');
      watch.type('\u0003');
      expect(await watch.ended).toBe(130);
      const tree = arcctl(`tree ${name} -n ${namespace}`);
      expect(await tree.ended).toBe(0);
      expect((await tree.screen()).join('\n')).toMatch(/Pod .*Failed/);
      await keepTerminal(
        'arcctl',
        tree,
        'arcctl tree: one artifact has arrived, one has failed, one is under way',
      );
      await keepPage('dashboard', page);
      await page.getByRole('tab', { name: 'Graph' }).click();
      await page.getByRole('button', { name: /^Pod / }).first().waitFor();
      await keepPage('graph', page);
      await page.getByRole('tab', { name: 'Artifacts' }).click();
    });

    it('the one under way is cancelled in the browser', async () => {
      await act(page, 'cancel', 'tools');
      await seeArtifact(page, 'tools', 'Cancelled');
      const tree = arcctl(`tree ${name} -n ${namespace}`);
      expect(await tree.ended).toBe(0);
      expect(await tree.screen()).toContainEqual(expect.stringMatching(/─ tools .*Cancelled/));
    });

    it('the one that has failed arrives with a retry on the command line', async () => {
      await seedLost();
      const retry = arcctl(`retry ${name} --artifact charts -n ${namespace}`);
      expect(await retry.ended).toBe(0);
      await seeArtifact(page, 'charts', 'Succeeded.*sha256:');
      expect((await read())?.status?.counts).toMatchObject({ succeeded: 2, cancelled: 1, failed: 0 });
      await page.emulateMedia({ colorScheme: 'dark' });
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Overview' }).click();
      await page.getByText(/copied, 2 artifacts succeeded in the last hour/).waitFor();
      await page.getByRole('img', { name: /^Bytes per minute/ }).waitFor();
      await keepPage('overview', page);
    });
  },
);

/** One that arrives, one that is slow, and one that the source does not have yet. */
function story(): KubeObject {
  const artifact = (artifactName: string, tag: string) => ({
    name: artifactName,
    type: 'oci' as const,
    source: 'source',
    spec: { image: `team/${artifactName}:${tag}`, override: `mirror/${artifactName}:${tag}` },
  });
  const made = orderOf([artifact('app', '1.0'), artifact('tools', '2.1'), artifact('charts', '0.3')]);
  const spec = made.spec as Order['spec'];
  return { ...made, metadata: { name, namespace }, spec: { ...spec, retry: { limit: 0 } } };
}

async function keepPage(called: string, page: Page): Promise<void> {
  const png = await page.screenshot({ animations: 'disabled', caret: 'hide' });
  await keep(`${called}.png`, png);
}

async function keepTerminal(
  called: string,
  run: ReturnType<typeof runOnTerminal>,
  title: string,
): Promise<void> {
  await run.screen();
  await keep(`${called}.svg`, Buffer.from(pictureOf(run.terminal, title)));
}

async function keep(file: string, bytes: Buffer): Promise<void> {
  expect(bytes.length, `size of ${file}`).toBeLessThan(mostPictureBytes);
  if (pictures === undefined) return;
  await mkdir(pictures, { recursive: true });
  await writeFile(path.join(pictures, file), bytes);
}
