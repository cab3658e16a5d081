import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { eventually } from '../../../shared/base/testing/eventually.ts';
import { start } from '../../fixtures/program.ts';
import type { Case, Ground } from './ground.ts';

// Tools that keep images of their own: what they push, and pull again with all of its layers unpacked, as a container would get it.

/** podman and buildah with their storage in the folder of the case. */
const stored = ({ run, folder }: Ground, tool: string, ...args: string[]) =>
  run(tool, '--root', `${folder}/storage`, '--runroot', `${folder}/run`, '--storage-driver', 'vfs', ...args);
const insecure = '--tls-verify=false';

async function pulled(ground: Ground, tool: string, reference: string): Promise<void> {
  // What the case has written is there already, and would not be pulled again.
  await stored(ground, tool, 'rmi', '--all', '--force');
  await stored(ground, tool, 'pull', insecure, reference);
}

const podman = (format: string, image: string, ...flags: string[]): Case => ({
  tool: 'podman',
  format,
  async write(ground, reference) {
    const from = `${ground.base}/${image}:1`;
    await stored(ground, 'podman', 'pull', insecure, '--arch', 'arm64', from);
    await stored(ground, 'podman', 'push', insecure, ...flags, from, reference);
  },
  read: (ground, reference) => pulled(ground, 'podman', reference),
});

const podmanCases: readonly Case[] = [
  podman('Docker image', 'image', '--format=v2s2'),
  podman('OCI image', 'image', '--format=oci'),
  podman('image with layers in zstd', 'image', '--format=oci', '--compression-format=zstd'),
  {
    tool: 'podman',
    format: 'manifest list',
    async write(ground, reference) {
      await stored(ground, 'podman', 'manifest', 'create', 'list');
      const add = ['manifest', 'add', insecure, '--all', 'list', `docker://${ground.base}/index:1`];
      await stored(ground, 'podman', ...add);
      await stored(ground, 'podman', 'manifest', 'push', '--all', insecure, 'list', `docker://${reference}`);
    },
    async read(ground, reference) {
      for (const arch of ['arm64', 'amd64'])
        await stored(ground, 'podman', 'pull', insecure, '--arch', arch, reference);
    },
  },
  {
    tool: 'podman',
    format: 'archive of OCI',
    async write(ground, reference) {
      await stored(ground, 'podman', 'pull', insecure, '--arch', 'arm64', `${ground.base}/image:1`);
      const archive = path.join(ground.folder, 'written.tar');
      await stored(
        ground,
        'podman',
        'save',
        '--format=oci-archive',
        '--output',
        archive,
        `${ground.base}/image:1`,
      );
      await stored(ground, 'podman', 'rmi', '--all');
      await stored(ground, 'podman', 'load', '--input', archive);
      await stored(ground, 'podman', 'push', insecure, `${ground.base}/image:1`, reference);
    },
    read: (ground, reference) => pulled(ground, 'podman', reference),
  },
];

const buildah = (format: string, ...flags: string[]): Case => ({
  tool: 'buildah',
  format,
  async write(ground, reference) {
    const file = path.join(ground.folder, 'a.txt');
    await writeFile(file, 'what is in the file\n');
    const container = await stored(ground, 'buildah', 'from', 'scratch');
    await stored(ground, 'buildah', 'copy', container, file, '/a.txt');
    await stored(
      ground,
      'buildah',
      'config',
      '--annotation',
      'a=b',
      '--label',
      'c=d',
      '--cmd',
      '/a.txt',
      container,
    );
    await stored(ground, 'buildah', 'commit', ...flags, container, 'app:1');
    await stored(ground, 'buildah', 'push', insecure, 'app:1', `docker://${reference}`);
    await stored(ground, 'buildah', 'rm', '--all');
  },
  read: (ground, reference) => pulled(ground, 'buildah', reference),
});

/** Pulls and exports an image with a containerd of the case's own. */
async function readByContainerd({ folder, run }: Ground, reference: string): Promise<void> {
  const file = (name: string) => path.join(folder, name);
  const address = file('containerd.sock');
  await writeFile(
    file('containerd.toml'),
    `version = 2
root = '${file('containerd')}'
state = '${file('containerd-state')}'
disabled_plugins = ['io.containerd.grpc.v1.cri']
[grpc]
address = '${address}'
`,
  );
  const daemon = start('/usr/bin/containerd', ['--config', file('containerd.toml')]);
  const ctr = (...args: string[]) => run('ctr', '--address', address, '--namespace', 'case', ...args);
  try {
    await eventually('containerd to answer', 30_000, async () => {
      daemon.mustRun();
      await ctr('version');
    });
    await ctr('content', 'fetch', '--plain-http', '--all-platforms', reference);
    await ctr('images', 'export', '--all-platforms', file('read.tar'), reference);
  } finally {
    await daemon.stop();
  }
}

/** Written by crane: the ctr of Debian cannot push to each of these registries. */
const containerd = (format: string, image: string): Case => ({
  tool: 'ctr of containerd',
  format,
  write: ({ run, base }, reference) => run('crane', 'copy', `${base}/${image}:1`, reference),
  read: readByContainerd,
});

export const containerCases: readonly Case[] = [
  ...podmanCases,
  buildah('Docker image', '--format=docker'),
  buildah('OCI image with annotations', '--format=oci'),
  buildah('squashed image without gzip', '--format=oci', '--squash', '--disable-compression=true'),
  containerd('OCI image', 'image'),
  containerd('Docker image', 'docker'),
  containerd('index', 'index'),
];
