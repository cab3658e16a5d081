import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Registry, seedImage, startRegistry } from '#shared/local';
import { eventually } from '../../shared/base/testing/eventually.ts';
import { type Kubectl, kubectl, kubectlReleases } from '../fixtures/cluster/kubectl.ts';
import { type StandaloneProcess, spawnStandalone } from '../fixtures/standalone/process.ts';
import { kubectlCommands, order } from './kubectl-commands.ts';

const assets = process.env.KUBEBUILDER_ASSETS ?? '';
if (process.env.CI && !assets)
  throw new Error('set KUBEBUILDER_ASSETS to a folder that holds kubectl 1.32 or newer');

/** What a person at a keyboard does, with the real kubectl, and not one error line on stderr. */
describe.skipIf(!assets)('kubectl against npm start', () => {
  let folder: string;
  let standalone: StandaloneProcess;
  let source: Registry;
  let destination: Registry;

  const tenant = (namespace: string) => `
apiVersion: v1
kind: Namespace
metadata: { name: ${namespace} }
---
apiVersion: arc.opendefense.cloud/v1alpha1
kind: Endpoint
metadata: { name: source, namespace: ${namespace} }
spec: { type: oci, remoteURL: '${source.url}', usage: PullOnly }
---
apiVersion: arc.opendefense.cloud/v1alpha1
kind: Endpoint
metadata: { name: destination, namespace: ${namespace} }
spec: { type: oci, remoteURL: '${destination.url}', usage: PushOnly }
`;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'arc-kubectl-'));
    source = await startRegistry({ auth: 'none' });
    destination = await startRegistry({ auth: 'none' });
    await seedImage(source, 'team/app', '1.0', {
      platforms: ['linux/amd64'],
      layers: 1,
      layerBytes: 1024,
      signature: false,
    });
    standalone = await spawnStandalone({ folder: path.join(folder, 'state') });
  });

  afterAll(async () => {
    await standalone?.stop();
    await source?.close();
    await destination?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const releases = kubectlReleases(assets);
  describe.each(releases)('$name', ({ name, file }) => {
    const namespace = name.replace('.', '-');
    let one: Kubectl;
    const quiet: Kubectl['quiet'] = (args, options) => one.quiet([...args, '-n', namespace], options);

    beforeAll(async () => {
      one = kubectl(file, { HOME: folder, KUBECONFIG: standalone.kubeconfig });
      expect(await one.quiet(['apply', '-f', '-'], { input: tenant(namespace) })).toMatch(
        /endpoint\S*\/source created/,
      );
    }, 60_000);

    kubectlCommands(
      namespace,
      () => one,
      () => folder,
    );

    it('applies an Order, waits for its end and shows what it did', async () => {
      expect(await quiet(['apply', '-f', '-'], { input: order(namespace, 'first') })).toContain('created');
      await quiet(['wait', '--for=condition=Ready', 'order/first', '--timeout=40s']);
      expect(await quiet(['get', 'order', 'first'])).toMatch(/first +Succeeded/);
      expect(await quiet(['get', 'arc'])).toContain('artifactworkflow');
      expect(await quiet(['describe', 'order', 'first'])).toContain('Phase:');
      expect(await quiet(['events'])).toContain('Order/first');
      expect(await quiet(['get', 'events'])).toContain('LAST SEEN');
    }, 60_000);

    it('watches an Order to its end', async () => {
      const watch = one.begin(['get', 'orders', '-n', namespace, '-w', '--output-watch-events']);
      try {
        await eventually('the watch to begin', 20_000, () => expect(watch.output.stdout).toContain('EVENT'));
        await quiet(['create', '-f', '-'], { input: order(namespace, 'told') });
        await eventually('the end', 40_000, () =>
          expect(watch.output.stdout).toMatch(/ADDED +told[\s\S]*MODIFIED +told +Succeeded/),
        );
      } finally {
        await watch.stop();
      }
    }, 90_000);

    it('deletes an Order with its dependents, and a namespace with its objects', async () => {
      await quiet(['delete', 'orders', '--all', '--wait']);
      await eventually('children to be gone', 20_000, async () =>
        expect((await one.run(['get', 'artifactworkflows,workflows', '-n', namespace])).stdout).toBe(''),
      );
      await one.quiet(['delete', 'namespace', namespace, '--wait', '--timeout=40s']);
      const left = await one.run(['get', 'endpoints.arc.opendefense.cloud', '-n', namespace]);
      expect(left.stdout).toBe('');
    }, 90_000);
  });
});
