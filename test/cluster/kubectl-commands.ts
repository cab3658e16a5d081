import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { eventually } from '../../shared/base/testing/eventually.ts';
import type { Kubectl } from '../fixtures/cluster/kubectl.ts';

/** An Order as people write it. */
export const order = (namespace: string, name: string, image = 'team/app:1.0') => `
apiVersion: arc.opendefense.cloud/v1alpha1
kind: Order
metadata: { name: ${name}, namespace: ${namespace} }
spec:
  defaults: { srcRef: { name: source }, dstRef: { name: destination } }
  artifacts:
    - { name: app, type: oci, spec: { image: '${image}', override: '${name}/app:1.0' } }
`;

/** What kubectl does with an API and no controllers: the same at the standalone as through an aggregator. */
export function kubectlCommands(namespace: string, find: () => Kubectl, folder: () => string): void {
  const run: Kubectl['run'] = (args, options) => find().run([...args, '-n', namespace], options);
  const quiet: Kubectl['quiet'] = (args, options) => find().quiet([...args, '-n', namespace], options);
  const plain = (name: string) => order(namespace, name);

  beforeAll(async () => {
    await find().quiet(['apply', '-f', '-'], { input: plain('plain') });
  }, 60_000);

  it('applies again without a change, and diff says so', async () => {
    expect(await quiet(['apply', '-f', '-'], { input: plain('plain') })).toContain('unchanged');
    expect(await quiet(['diff', '-f', '-'], { input: plain('plain') })).toBe('');
    const changed = plain('plain').replace('spec:', 'spec:\n  ttl: 24h');
    const { stdout } = await run(['diff', '-f', '-'], { input: changed, exit: 1 });
    expect(stdout).toContain('+  ttl: 24h');
    expect(await quiet(['apply', '-f', '-'], { input: changed })).toContain('configured');
  }, 60_000);

  it('applies on the server side, and names the owner of a field in conflict', async () => {
    const ssa = ['apply', '--server-side', '-f', '-'];
    expect(await quiet(ssa, { input: plain('owned') })).toContain('serverside-applied');
    expect(await quiet(ssa, { input: plain('owned') })).toContain('serverside-applied');
    expect(await quiet(['diff', '--server-side', '-f', '-'], { input: plain('owned') })).toBe('');
    const other = [...ssa, '--field-manager=other'];
    const changed = plain('owned').replace('spec:', 'spec:\n  ttl: 24h').replace('app:1.0', 'app:1.1');
    const refused = await run(other, { input: changed, exit: 1 });
    expect(refused.stderr).toContain('conflict with "kubectl"');
    expect(refused.stderr).toContain('.spec.artifacts');
    expect(await quiet([...other, '--force-conflicts'], { input: changed })).toContain('serverside-applied');
    await quiet(['delete', 'order', 'owned']);
  }, 60_000);

  it('shows objects in every form', async () => {
    expect(await quiet(['get', 'orders'])).toMatch(/^NAME +PHASE[\s\S]*\nplain /);
    expect(await quiet(['get', 'ord', 'plain', '-o', 'wide'])).toContain('plain');
    expect(await quiet(['get', 'orders', '-o', 'jsonpath={.items[?(@.metadata.name=="plain")].kind}'])).toBe(
      'Order',
    );
    expect(await quiet(['get', 'order', 'plain', '-o', 'yaml'])).toContain('kind: Order');
    expect(await quiet(['get', 'orders', '-o', 'name'])).toContain('order.arc.opendefense.cloud/plain');
    expect(await quiet(['describe', 'order', 'plain'])).toMatch(/^Name: +plain\n[\s\S]*Events:/);
    const columns = ['get', 'orders', '-o', 'custom-columns=N:.metadata.name', '--sort-by=.metadata.name'];
    expect(await quiet(columns)).toMatch(/^N\n/);
  }, 60_000);

  it('explains the kinds', async () => {
    await eventually('the schemas to be there', 60_000, async () => {
      expect(await quiet(['explain', 'orders'])).toContain('KIND:       Order');
    });
    expect(await quiet(['explain', 'order.spec.artifacts.srcRef'])).toContain('name');
    expect(await quiet(['explain', 'orders', '--recursive'])).toContain('completionTime');
    expect(await quiet(['explain', 'order.metadata.ownerReferences'])).toContain('uid');
    expect(await quiet(['api-resources', '--api-group=arc.opendefense.cloud'])).toContain('orders');
  }, 90_000);

  it('labels, annotates, patches and edits', async () => {
    await quiet(['label', 'order', 'plain', 'tier=gold']);
    expect(await quiet(['get', 'orders', '-l', 'tier=gold', '-o', 'name'])).toContain('plain');
    expect(await run(['get', 'orders', '-l', 'tier=tin'])).toMatchObject({
      stderr: `No resources found in ${namespace} namespace.\n`,
    });
    await quiet(['annotate', 'order', 'plain', 'note=hello']);
    await quiet(['patch', 'order', 'plain', '--type=merge', '-p', '{"spec":{"ttl":"48h"}}']);
    await quiet(['patch', 'order', 'plain', '--type=json', '-p', '[{"op":"remove","path":"/spec/ttl"}]']);
    const editor = path.join(folder(), 'editor.sh');
    await writeFile(editor, '#!/bin/sh\nsed -i "s/note: hello/note: edited/" "$1"\n', { mode: 0o755 });
    await quiet(['edit', 'order', 'plain'], { env: { EDITOR: editor } });
    expect(await quiet(['get', 'order', 'plain', '-o', 'yaml'])).toContain('note: edited');
  }, 60_000);

  it('watches and waits', async () => {
    const watch = find().begin(['get', 'orders', '-n', namespace, '-w', '--output-watch-events']);
    const waiting = { gone: Promise.resolve('') };
    try {
      await eventually('the watch to begin', 20_000, () => expect(watch.output.stdout).toContain('EVENT'));
      await quiet(['create', '-f', '-'], { input: plain('watched') });
      await eventually('the creation', 20_000, () => expect(watch.output.stdout).toMatch(/ADDED +watched/));
      const labelled = [
        'wait',
        'order/watched',
        '--for=jsonpath={.metadata.labels.tier}=gold',
        '--timeout=20s',
      ];
      const wait = quiet(labelled);
      await quiet(['label', 'order', 'watched', 'tier=gold']);
      expect(await wait).toContain('condition met');
      waiting.gone = quiet(['wait', 'order/watched', '--for=delete', '--timeout=30s']);
      await quiet(['delete', 'order', 'watched']);
      await waiting.gone;
      await eventually('the change and the deletion', 20_000, () =>
        expect(watch.output.stdout).toMatch(/MODIFIED +watched[\s\S]*DELETED +watched/),
      );
    } finally {
      await watch.stop();
    }
  }, 90_000);

  it('lists in pages, and deletes by label', async () => {
    const many = ['a', 'b', 'c'].map((name) =>
      plain(`many-${name}`).replace('metadata: {', 'metadata: { labels: { many: "1" },'),
    );
    await quiet(['create', '-f', '-'], { input: many.join('---') });
    const paged = await quiet(['get', 'orders', '-l', 'many=1', '-o', 'name', '--chunk-size=1']);
    expect(paged.trim().split('\n')).toHaveLength(3);
    await quiet(['delete', 'orders', '-l', 'many=1']);
    expect(await quiet(['get', 'orders', '-l', 'many=1', '-o', 'name'])).toBe('');
  }, 60_000);

  it('replaces, and tries without doing', async () => {
    const dry = plain('plain').replace('spec:', 'spec:\n  ttl: 1h');
    expect(await quiet(['apply', '-f', '-', '--dry-run=server'], { input: dry })).toContain('server dry run');
    expect(await quiet(['get', 'order', 'plain', '-o', 'jsonpath={.spec.ttl}'])).toBe('');
    expect(await quiet(['replace', '-f', '-'], { input: dry })).toContain('replaced');
    expect(await quiet(['get', 'order', 'plain', '-o', 'jsonpath={.spec.ttl}'])).toBe('1h');
  }, 60_000);

  it('refuses an invalid object and names the field', async () => {
    const bad = plain('bad').replace('type: oci, ', '');
    expect((await run(['create', '-f', '-'], { input: bad, exit: 1 })).stderr).toContain(
      'spec.artifacts[0].type',
    );
    const unknown = plain('bad').replace('spec:', 'spec:\n  bogus: 1');
    expect((await run(['create', '-f', '-'], { input: unknown, exit: 1 })).stderr).toContain(
      'unknown field "spec.bogus"',
    );
    expect((await run(['get', 'order', 'absent'], { exit: 1 })).stderr).toContain(
      'Error from server (NotFound): orders.arc.opendefense.cloud "absent" not found',
    );
    expect((await run(['create', '-f', '-'], { input: plain('plain'), exit: 1 })).stderr).toContain(
      'already exists',
    );
  }, 60_000);

  it('shows the user and the rights of the user', async () => {
    expect(await quiet(['auth', 'can-i', 'create', 'orders'])).toBe('yes\n');
    expect(await quiet(['auth', 'whoami'])).toContain('admin');
    expect(await quiet(['auth', 'can-i', '--list'])).toContain('*');
    // A release two minors away says so on stderr.
    expect((await run(['version'])).stdout).toContain('Server Version');
  }, 60_000);
}
