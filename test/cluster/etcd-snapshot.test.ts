import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { openEtcdStore } from '#shared/kubernetes/storage';
import { spawnEtcd, startEtcd } from '../fixtures/etcd/process.ts';

const assets = process.env.KUBEBUILDER_ASSETS ?? '';
const program = (name: string) => path.join(assets, name);
const hasTools = ['etcd', 'etcdctl', 'etcdutl'].every((name) => existsSync(program(name)));
if (!hasTools && process.env.CI) throw new Error('KUBEBUILDER_ASSETS must hold etcd, etcdctl and etcdutl');

/** The words of the command in docs/operate/backup.md that runs `tool` and contains `what`. */
async function commandOf(tool: string, what: string): Promise<string[]> {
  const page = await readFile('docs/operate/backup.md', 'utf8');
  const line = page.split('\n').find((each) => each.includes(`-- ${tool} `) && each.includes(what)) ?? '';
  return line.slice(line.indexOf(`-- ${tool} `) + tool.length + 4).split(' ');
}

/** That of the pod that restores. */
async function restoreCommand(): Promise<string[]> {
  const page = await readFile('docs/operate/backup.md', 'utf8');
  const pods = [...page.matchAll(/^```yaml\n(apiVersion: v1\nkind: Pod\n.*?)^```/gms)].map(([, text = '']) =>
    parse(text),
  );
  const pod = pods.find(({ metadata }) => metadata.name === 'etcd-restore');
  return pod.spec.containers[0].command;
}

const run = promisify(execFile);

it.skipIf(!hasTools)(
  "etcd's snapshot is saved and restored by the commands of docs/operate/backup.md",
  async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'arc-snapshot-'));
    const file = path.join(folder, 'snapshot.db');
    const peer = 'http://127.0.0.1:1';
    const here = (words: string[], endpoint = '') =>
      words
        // No TLS here, another port, another folder.
        .filter((word) => !/^--(?:cacert|cert|key)=/.test(word))
        .map((word) =>
          word
            .replace('https://127.0.0.1:2379', endpoint)
            .replace('/var/lib/etcd/snapshot.db', file)
            .replace('/var/lib/etcd/data', path.join(folder, 'data'))
            .replaceAll('https://etcd-0.etcd.arc-system.svc:2380', peer),
        );
    const etcd = await startEtcd(program('etcd'));
    let position = 0;
    try {
      const store = await openEtcdStore({ endpoints: [etcd.endpoint] });
      await store.create('/a', Buffer.from('1'));
      await run(program('etcdctl'), here(await commandOf('etcdctl', 'snapshot save'), etcd.endpoint));
      await run(program('etcdctl'), here(await commandOf('etcdctl', 'defrag'), etcd.endpoint));
      for (let at = 0; at < 5; at += 1) await store.create(`/later/${at}`, Buffer.from('1'));
      position = await store.revision();
      await store.close();
    } finally {
      await etcd.stop();
    }
    const [tool = '', ...words] = await restoreCommand();
    await run(program(tool), here(words));
    const member = await spawnEtcd(program('etcd'), [
      ...['--name', 'etcd-0', '--data-dir', path.join(folder, 'data'), '--initial-cluster', `etcd-0=${peer}`],
      ...['--listen-client-urls', 'http://127.0.0.1:0', '--advertise-client-urls', 'http://127.0.0.1:0'],
      ...['--listen-peer-urls', 'http://127.0.0.1:0', '--initial-advertise-peer-urls', peer],
      ...['--initial-cluster-token', 'arc'],
    ]);
    try {
      const store = await openEtcdStore({ endpoints: [`http://${member.address}`] });
      const { items, revision } = await store.list('/');
      expect(items.map(({ key }) => key)).toEqual(['/a']);
      expect(revision).toBeGreaterThan(position + 900_000_000);
      const watch = store.watch('/', { after: position, signal: AbortSignal.timeout(10_000) });
      await expect(watch[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'Expired' });
      await store.close();
    } finally {
      member.child.kill('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    }
  },
  60_000,
);
