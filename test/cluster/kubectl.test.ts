import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apply } from '../../scripts/demo/apply.ts';
import { platformObjects } from '../../scripts/demo/objects.ts';
import { type Registry, seedImage, startRegistry } from '../../scripts/registry/index.ts';
import { eventually } from '../fixtures/eventually.ts';
import { type StandaloneProcess, spawnStandalone } from '../fixtures/standalone-process.ts';

const assets = process.env.KUBEBUILDER_ASSETS;
if (process.env.CI && !assets)
  throw new Error('set KUBEBUILDER_ASSETS to a folder that holds kubectl 1.32 or newer');

/** What a person at a keyboard does, with the real kubectl, and not one error line on stderr. */
describe.skipIf(!assets)('kubectl against npm start', () => {
  let folder: string;
  let standalone: StandaloneProcess;
  let source: Registry;
  let destination: Registry;

  /** Runs kubectl; resolves with what it printed, rejects when it exits otherwise than `exit`. */
  async function kubectl(args: string[], { input = '', exit = 0, env = {} } = {}) {
    const child = spawn(path.join(assets ?? '', 'kubectl'), args, {
      env: { ...process.env, HOME: folder, KUBECONFIG: standalone.kubeconfig, ...env },
      timeout: 30_000,
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.stdin.end(input);
    const [code] = await once(child, 'close');
    expect({ args, code, stderr: code === exit ? '' : stderr }).toEqual({ args, code: exit, stderr: '' });
    return { stdout, stderr };
  }

  /** As `kubectl`, and stderr must be empty. */
  async function quiet(args: string[], options = {}) {
    const { stdout, stderr } = await kubectl(args, options);
    expect(stderr).toBe('');
    return stdout;
  }

  const tenant = () => `
apiVersion: v1
kind: Namespace
metadata: { name: team }
---
apiVersion: arc.opendefense.cloud/v1alpha1
kind: Endpoint
metadata: { name: source, namespace: team }
spec: { type: oci, remoteURL: '${source.url}', usage: PullOnly }
---
apiVersion: arc.opendefense.cloud/v1alpha1
kind: Endpoint
metadata: { name: destination, namespace: team }
spec: { type: oci, remoteURL: '${destination.url}', usage: PushOnly }
`;

  const order = (name: string, image = 'team/app:1.0') => `
apiVersion: arc.opendefense.cloud/v1alpha1
kind: Order
metadata: { name: ${name}, namespace: team }
spec:
  defaults: { srcRef: { name: source }, dstRef: { name: destination } }
  artifacts:
    - { name: app, type: oci, spec: { image: '${image}', override: '${name}/app:1.0' } }
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
    for (const object of await platformObjects())
      await apply(standalone.admin, object, AbortSignal.timeout(10_000));
  });

  afterAll(async () => {
    await standalone?.stop();
    await source?.close();
    await destination?.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('applies manifests, waits for the Order and shows it as a table', async () => {
    expect(await quiet(['apply', '-f', '-'], { input: tenant() })).toMatch(/endpoint\S*\/source created/);
    expect(await quiet(['apply', '-f', '-'], { input: order('first') })).toMatch(/order\S*\/first created/);
    await quiet(['wait', '--for=condition=Ready', 'order/first', '-n', 'team', '--timeout=20s']);
    const table = await quiet(['get', 'orders', '-n', 'team']);
    expect(table).toMatch(/^NAME +PHASE/);
    expect(table).toMatch(/first +Succeeded/);
    expect(await quiet(['get', 'ord', 'first', '-n', 'team', '-o', 'wide'])).toContain('first');
    expect(await quiet(['get', 'arc', '-n', 'team'])).toContain('artifactworkflow');
    expect(await quiet(['get', 'orders', '-A', '-o', 'jsonpath={.items[0].status.phase}'])).toBe('Succeeded');
    expect(await quiet(['get', 'order', 'first', '-n', 'team', '-o', 'yaml'])).toContain('kind: Order');
    expect(await quiet(['get', 'order', '-n', 'team', '-o', 'name'])).toContain(
      'order.arc.opendefense.cloud/first',
    );
  });

  it('applies again without a change, and diff says so', async () => {
    expect(await quiet(['apply', '-f', '-'], { input: order('first') })).toContain('unchanged');
    expect(await quiet(['diff', '-f', '-'], { input: order('first') })).toBe('');
    const changed = order('first').replace('spec:', 'spec:\n  ttl: 24h');
    const { stdout } = await kubectl(['diff', '-f', '-'], { input: changed, exit: 1 });
    expect(stdout).toContain('+  ttl: 24h');
    expect(await quiet(['apply', '-f', '-'], { input: changed })).toContain('configured');
  });

  it('applies on the server side, and says who owns a field that two want', async () => {
    const ssa = ['apply', '--server-side', '-f', '-'];
    expect(await quiet(ssa, { input: order('owned') })).toContain('serverside-applied');
    expect(await quiet(ssa, { input: order('owned') })).toContain('serverside-applied');
    expect(await quiet(['diff', '--server-side', '-f', '-'], { input: order('owned') })).toBe('');
    const other = [...ssa, '--field-manager=other'];
    const changed = order('owned').replace('spec:', 'spec:\n  ttl: 24h').replace('app:1.0', 'app:1.1');
    const refused = await kubectl(other, { input: changed, exit: 1 });
    expect(refused.stderr).toContain('conflict with "kubectl"');
    expect(refused.stderr).toContain('.spec.artifacts');
    expect(await quiet([...other, '--force-conflicts'], { input: changed })).toContain('serverside-applied');
    await quiet(['delete', 'order', 'owned', '-n', 'team']);
  });

  it('describes, explains and lists events', async () => {
    const described = await quiet(['describe', 'order', 'first', '-n', 'team']);
    expect(described).toContain('Phase:');
    expect(described).toMatch(/Events:\n/);
    expect(await quiet(['explain', 'orders'])).toContain('KIND:       Order');
    expect(await quiet(['explain', 'order.spec.artifacts.srcRef'])).toContain('name');
    expect(await quiet(['explain', 'orders', '--recursive'])).toContain('completionTime');
    expect(await quiet(['explain', 'order.metadata.ownerReferences'])).toContain('uid');
    expect(await quiet(['events', '-n', 'team'])).toContain('Order/first');
    expect(await quiet(['get', 'events', '-n', 'team'])).toContain('LAST SEEN');
  });

  it('labels, annotates, patches and edits', async () => {
    await quiet(['label', 'order', 'first', '-n', 'team', 'tier=gold']);
    expect(await quiet(['get', 'orders', '-n', 'team', '-l', 'tier=gold', '-o', 'name'])).toContain('first');
    expect(await kubectl(['get', 'orders', '-n', 'team', '-l', 'tier=tin'])).toMatchObject({
      stderr: 'No resources found in team namespace.\n',
    });
    await quiet(['annotate', 'order', 'first', '-n', 'team', 'note=hello']);
    await quiet(['patch', 'order', 'first', '-n', 'team', '--type=merge', '-p', '{"spec":{"ttl":"48h"}}']);
    await quiet([
      'patch',
      'order',
      'first',
      '-n',
      'team',
      '--type=json',
      '-p',
      '[{"op":"remove","path":"/spec/ttl"}]',
    ]);
    const editor = path.join(folder, 'editor.sh');
    await writeFile(editor, '#!/bin/sh\nsed -i "s/note: hello/note: edited/" "$1"\n', { mode: 0o755 });
    await quiet(['edit', 'order', 'first', '-n', 'team'], { env: { EDITOR: editor } });
    expect(await quiet(['get', 'order', 'first', '-n', 'team', '-o', 'yaml'])).toContain('note: edited');
  });

  it('watches: the story of an Order from its creation to its end', async () => {
    const watch = spawn(
      path.join(assets ?? '', 'kubectl'),
      ['get', 'orders', '-n', 'team', '-w', '--output-watch-events'],
      { env: { ...process.env, HOME: folder, KUBECONFIG: standalone.kubeconfig } },
    );
    let seen = '';
    watch.stdout.setEncoding('utf8').on('data', (text: string) => {
      seen += text;
    });
    try {
      await eventually('the watch to begin', 10_000, () => expect(seen).toContain('EVENT'));
      await quiet(['create', '-f', '-'], { input: order('watched') });
      await eventually('the watch to tell the end', 20_000, () =>
        expect(seen).toMatch(/MODIFIED +watched +Succeeded/),
      );
      expect(seen).toMatch(/ADDED +watched/);
      await quiet(['delete', 'order', 'watched', '-n', 'team']);
      await eventually('the watch to tell the deletion', 10_000, () =>
        expect(seen).toMatch(/DELETED +watched/),
      );
    } finally {
      watch.kill();
      await once(watch, 'close');
    }
  });

  it('says who one is and what one may do', async () => {
    expect(await quiet(['auth', 'can-i', 'create', 'orders', '-n', 'team'])).toBe('yes\n');
    expect(await quiet(['auth', 'whoami'])).toContain('admin');
    expect(await quiet(['auth', 'can-i', '--list', '-n', 'team'])).toContain('*');
    expect(await quiet(['api-resources', '--api-group=arc.opendefense.cloud'])).toContain('orders');
    expect(await quiet(['version'])).toContain('Server Version');
  });

  it('refuses what is wrong, naming the field', async () => {
    const bad = order('bad').replace('type: oci, ', '');
    expect((await kubectl(['create', '-f', '-'], { input: bad, exit: 1 })).stderr).toContain(
      'spec.artifacts[0].type',
    );
    const unknown = order('bad').replace('spec:', 'spec:\n  bogus: 1');
    expect((await kubectl(['create', '-f', '-'], { input: unknown, exit: 1 })).stderr).toContain(
      'unknown field "spec.bogus"',
    );
    expect((await kubectl(['get', 'order', 'absent', '-n', 'team'], { exit: 1 })).stderr).toContain(
      'Error from server (NotFound): orders.arc.opendefense.cloud "absent" not found',
    );
    expect((await kubectl(['create', '-f', '-'], { input: order('first'), exit: 1 })).stderr).toContain(
      'already exists',
    );
  });

  it('deletes an Order with what it owns, and a namespace with what is in it', async () => {
    await quiet(['delete', 'order', 'first', '-n', 'team', '--wait']);
    await eventually('children to be gone', 10_000, async () =>
      expect((await kubectl(['get', 'artifactworkflows,workflows', '-n', 'team'])).stdout).toBe(''),
    );
    await quiet(['delete', 'namespace', 'team', '--wait', '--timeout=20s']);
    expect((await kubectl(['get', 'endpoints.arc.opendefense.cloud', '-n', 'team'])).stdout).toBe('');
  });
});
