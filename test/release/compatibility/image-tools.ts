import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { digestOf } from '#shared/transfer';
import { type Case, digestAt, type Ground } from './ground.ts';

const skopeo = ({ run }: Ground, ...args: string[]) =>
  run('skopeo', '--insecure-policy', 'copy', '--src-tls-verify=false', '--dest-tls-verify=false', ...args);
const inFolder = ({ folder }: Ground, name: string) => path.join(folder, name);

/** Reads all blobs, and compares the manifest with what the tag names. */
async function readBySkopeo(ground: Ground, reference: string): Promise<void> {
  await skopeo(ground, '--all', `docker://${reference}`, `dir:${inFolder(ground, 'read')}`);
  const manifest = await readFile(inFolder(ground, 'read/manifest.json'));
  const digest = await digestAt(ground, reference);
  if (digestOf(manifest) !== digest) throw new Error(`skopeo has read ${digestOf(manifest)}, not ${digest}`);
}

const fromBase =
  (image: string, ...flags: string[]) =>
  (ground: Ground, reference: string) =>
    skopeo(ground, ...flags, `docker://${ground.base}/${image}:1`, `docker://${reference}`);

/** By way of an archive, both when it writes and when it reads. */
const throughArchive = (kind: 'oci-archive' | 'docker-archive', image: string) => ({
  async write(ground: Ground, reference: string) {
    const archive = `${kind}:${inFolder(ground, 'written.tar')}:example.com/app:1`;
    await skopeo(ground, `docker://${ground.base}/${image}:1`, archive);
    await skopeo(ground, archive, `docker://${reference}`);
  },
  async read(ground: Ground, reference: string) {
    const archive = `${kind}:${inFolder(ground, 'read.tar')}:example.com/app:1`;
    await skopeo(ground, `docker://${reference}`, archive);
    await skopeo(ground, archive, `dir:${inFolder(ground, 'read')}`);
  },
});

const skopeoCases: readonly Case[] = [
  { tool: 'skopeo', format: 'Docker image', write: fromBase('docker', '--format=v2s2'), read: readBySkopeo },
  { tool: 'skopeo', format: 'OCI image', write: fromBase('image', '--format=oci'), read: readBySkopeo },
  { tool: 'skopeo', format: 'index', write: fromBase('index', '--all'), read: readBySkopeo },
  {
    tool: 'skopeo',
    format: 'index to Docker list',
    write: fromBase('index', '--all', '--format=v2s2'),
    read: readBySkopeo,
  },
  { tool: 'skopeo', format: 'OCI archive', ...throughArchive('oci-archive', 'image') },
  { tool: 'skopeo', format: 'Docker archive', ...throughArchive('docker-archive', 'docker') },
];

const validate = ({ run }: Ground, reference: string) => run('crane', 'validate', '--remote', reference);
const craneCopy = (image: string) => ({
  write: ({ run, base }: Ground, reference: string) => run('crane', 'copy', `${base}/${image}:1`, reference),
  read: validate,
});

const craneCases: readonly Case[] = [
  { tool: 'crane', format: 'Docker image', ...craneCopy('docker') },
  { tool: 'crane', format: 'OCI image', ...craneCopy('image') },
  { tool: 'crane', format: 'index', ...craneCopy('index') },
  {
    tool: 'crane',
    format: 'Docker archive',
    async write(ground, reference) {
      await ground.run('crane', 'pull', `${ground.base}/docker:1`, inFolder(ground, 'written.tar'));
      await ground.run('crane', 'push', inFolder(ground, 'written.tar'), reference);
    },
    async read(ground, reference) {
      await ground.run('crane', 'pull', reference, inFolder(ground, 'read.tar'));
      await ground.run('crane', 'validate', '--tarball', inFolder(ground, 'read.tar'));
    },
  },
  {
    tool: 'crane',
    format: 'OCI layout of an index',
    async write(ground, reference) {
      await ground.run(
        'crane',
        'pull',
        '--format=oci',
        `${ground.base}/index:1`,
        inFolder(ground, 'written'),
      );
      await ground.run('crane', 'push', '--index', inFolder(ground, 'written'), reference);
    },
    async read(ground, reference) {
      await validate(ground, reference);
      await ground.run('crane', 'pull', '--format=oci', reference, inFolder(ground, 'read'));
    },
  },
  {
    tool: 'crane',
    format: 'image of 40 layers',
    async write(ground, reference) {
      await ground.run('crane', 'copy', `${ground.base}/image:1`, reference);
      const layers = Array.from({ length: 40 }, () => [
        '--new_layer',
        inFolder(ground, '../amd64-0.tar'),
      ]).flat();
      await ground.run('crane', 'append', '--base', reference, ...layers, '--new_tag', reference);
    },
    read: validate,
  },
  {
    tool: 'crane',
    format: 'flattened and rebased image',
    async write({ run, base }, reference) {
      await run('crane', 'flatten', `${base}/image:1`, '--tag', reference);
      await run('crane', 'mutate', reference, '--annotation', 'a=b', '--label', 'c=d', '--tag', reference);
    },
    read: validate,
  },
];

const toLayout = ({ run }: Ground, reference: string, name = 'read') =>
  run('regctl', 'image', 'copy', '--referrers', '--digest-tags', reference, `ocidir://${name}:1`);
const put = ({ run }: Ground, subject: string, type: string, file: string) =>
  run('regctl', 'artifact', 'put', '--artifact-type', type, '--subject', subject, '--file', file);

/** An artifact that refers to the index, one that refers to an image of it, and one that refers to the first of them. */
async function writeTree(ground: Ground, reference: string): Promise<void> {
  const { run, base, folder } = ground;
  await run('regctl', 'image', 'copy', `${base}/index:1`, reference);
  const file = path.join(folder, '.regctl', 'config.json');
  await put(ground, reference, 'application/example.sbom', file);
  await run(
    ...([
      'regctl',
      'artifact',
      'put',
      '--artifact-type',
      'application/example.scan',
      '--subject',
      reference,
    ] as const),
    ...['--platform', 'linux/arm64', '--file', file],
  );
}

async function readTree(ground: Ground, reference: string, layout = 'read'): Promise<void> {
  await toLayout(ground, reference, layout);
  const tree = await ground.run('regctl', 'artifact', 'tree', reference);
  for (const type of ['application/example.sbom', 'application/example.scan'])
    if (!tree.includes(type)) throw new Error(`${type} is missing:\n${tree}`);
}

const regctlCases: readonly Case[] = [
  {
    tool: 'regctl',
    format: 'OCI image',
    write: ({ run, base }, reference) => run('regctl', 'image', 'copy', `${base}/image:1`, reference),
    read: toLayout,
  },
  {
    tool: 'regctl',
    format: 'Docker image',
    write: ({ run, base }, reference) =>
      run('regctl', 'image', 'mod', `${base}/image:1`, '--to-docker', '--create', reference),
    read: toLayout,
  },
  {
    tool: 'regctl',
    format: 'index with referrers',
    write: writeTree,
    read: readTree,
  },
  {
    tool: 'regctl',
    format: 'OCI layout with referrers',
    async write(ground, reference) {
      await writeTree(ground, reference.replace('/', '/made-'));
      await toLayout(ground, reference.replace('/', '/made-'), 'written');
      await ground.arc('copy', `oci-layout:${inFolder(ground, 'written')}:1`, reference);
    },
    async read(ground, reference) {
      await readTree(ground, reference);
      await ground.arc('copy', reference, `oci-layout:${inFolder(ground, 'ours')}:1`);
      await readTree(ground, 'ocidir://ours:1', 'again');
    },
  },
  {
    tool: 'regctl',
    format: 'artifact',
    write: ({ run, folder }, reference) =>
      run(
        ...(['regctl', 'artifact', 'put', '--artifact-type', 'application/example.data', reference] as const),
        ...['--file', path.join(folder, '.regctl', 'config.json'), '--file-media-type', 'application/json'],
      ),
    async read({ run }, reference) {
      if (!(await run('regctl', 'artifact', 'get', reference)).includes('disabled'))
        throw new Error('another file');
    },
  },
  {
    tool: 'regctl',
    format: 'image with an SBOM under a tag of its digest',
    async write({ run, base }, reference) {
      await run('regctl', 'image', 'copy', `${base}/image:1`, reference);
      const tag = (await run('regctl', 'manifest', 'head', reference)).replace(':', '-');
      await run('regctl', 'image', 'copy', `${base}/docker:1`, reference.replace(/:1$/, `:${tag}.sbom`));
    },
    async read(ground, reference) {
      await toLayout(ground, reference);
      const tags = await ground.run('regctl', 'tag', 'ls', reference.replace(/:1$/, ''));
      if (!tags.includes('.sbom')) throw new Error(`no SBOM among ${tags}`);
    },
  },
];

const regsync: Case = {
  tool: 'regsync',
  format: 'repository with its tags',
  async write(ground, reference) {
    await sync(ground, `${ground.base}/index`, reference.replace(/:1$/, ''));
  },
  async read(ground, reference) {
    const copied = reference.replace(/:1$/, '-synced');
    await sync(ground, reference.replace(/:1$/, ''), copied);
    const [before, after] = await Promise.all([digestAt(ground, reference), digestAt(ground, `${copied}:1`)]);
    if (before !== after) throw new Error(`${after}, not ${before}`);
  },
};

async function sync({ run, folder, base }: Ground, from: string, to: string): Promise<void> {
  const hosts = new Set([base, from, to].map((each) => each.split('/')[0]));
  const creds = [...hosts].map((registry) => ({ registry, tls: 'disabled' }));
  const file = path.join(folder, 'regsync.yml');
  await writeFile(
    file,
    JSON.stringify({ version: 1, creds, sync: [{ source: from, target: to, type: 'repository' }] }),
  );
  await run('regsync', 'once', '--config', file);
}

export const imageCases = [...skopeoCases, ...craneCases, ...regctlCases, regsync];
