import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { chartYaml, packChart } from '../../../shared/transfer/testing/charts.ts';
import { type Case, digestAt, type Ground } from './ground.ts';

const content = 'what is in the file\n';
async function file({ folder }: Ground, name: string, text = content): Promise<string> {
  await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
  await writeFile(path.join(folder, name), text);
  return name;
}
async function expectFile({ folder }: Ground, name: string, text = content): Promise<void> {
  const found = await readFile(path.join(folder, name), 'utf8');
  if (found !== text) throw new Error(`${name} has another content: ${found.slice(0, 100)}`);
}
const oras = ({ run }: Ground, command: string, ...args: string[]) =>
  run('oras', ...command.split(' '), ...args);

async function pulled(ground: Ground, reference: string): Promise<void> {
  await oras(ground, 'pull --plain-http --output pulled', reference);
  await expectFile(ground, 'pulled/a.txt');
}
async function tree(ground: Ground, reference: string): Promise<void> {
  const found = await oras(ground, 'discover --plain-http --format tree', reference);
  for (const type of ['application/example.sbom', 'application/example.signature'])
    if (!found.includes(type)) throw new Error(`${type} is missing:\n${found}`);
  await oras(ground, 'cp --recursive --from-plain-http --to-oci-layout', reference, 'read:1');
}
/** An SBOM that refers to it, and a signature of the SBOM. */
async function attach(ground: Ground, reference: string): Promise<void> {
  const name = reference.replace(/:1$/, '');
  const sbom = await oras(
    ground,
    'attach --plain-http --format go-template={{.digest}} --artifact-type application/example.sbom',
    ...[reference, await file(ground, 'sbom.txt')],
  );
  await oras(
    ground,
    'attach --plain-http --artifact-type application/example.signature',
    ...[`${name}@${sbom}`, await file(ground, 'signature.txt')],
  );
}

const orasCases: readonly Case[] = [
  {
    tool: 'oras',
    format: 'artifact of two files',
    write: async (ground, reference) =>
      oras(
        ground,
        'push --plain-http --artifact-type application/example',
        ...[reference, await file(ground, 'a.txt'), await file(ground, 'b/c.txt', 'other\n')],
      ),
    async read(ground, reference) {
      await pulled(ground, reference);
      await expectFile(ground, 'pulled/b/c.txt', 'other\n');
    },
  },
  {
    tool: 'oras',
    format: 'artifact with a config',
    write: async (ground, reference) =>
      oras(
        ground,
        'push --plain-http --image-spec v1.0 --config',
        ...[`${await file(ground, 'config.json', '{"a":1}')}:application/example.config+json`, reference],
        await file(ground, 'a.txt'),
      ),
    read: pulled,
  },
  {
    tool: 'oras',
    format: 'artifact of a folder',
    async write(ground, reference) {
      await file(ground, 'folder/a.txt');
      await oras(ground, 'push --plain-http --artifact-type application/example', reference, 'folder/');
    },
    async read(ground, reference) {
      await oras(ground, 'pull --plain-http --output pulled', reference);
      await expectFile(ground, 'pulled/folder/a.txt');
    },
  },
  {
    tool: 'oras',
    format: 'artifact with referrers of referrers',
    async write(ground, reference) {
      await oras(
        ground,
        'push --plain-http --artifact-type application/example',
        reference,
        await file(ground, 'a.txt'),
      );
      await attach(ground, reference);
    },
    read: tree,
  },
  {
    tool: 'oras',
    format: 'index with referrers',
    async write(ground, reference) {
      await oras(ground, 'cp --from-plain-http --to-plain-http', `${ground.base}/index:1`, reference);
      await attach(ground, reference);
    },
    read: tree,
  },
  {
    tool: 'oras',
    format: 'OCI layout with referrers',
    async write(ground, reference) {
      const made = reference.replace('/', '/made-');
      await oras(ground, 'cp --from-plain-http --to-plain-http', `${ground.base}/image:1`, made);
      await attach(ground, made);
      await oras(ground, 'cp --recursive --from-plain-http --to-oci-layout', made, 'written:1');
      await ground.arc('copy', `oci-layout:${ground.folder}/written:1`, reference);
    },
    async read(ground, reference) {
      await ground.arc('copy', reference, `oci-layout:${ground.folder}/read:1`);
      const found = await oras(ground, 'discover --oci-layout --format tree', 'read:1');
      for (const type of ['application/example.sbom', 'application/example.signature'])
        if (!found.includes(type)) throw new Error(`${type} is missing:\n${found}`);
    },
  },
  {
    tool: 'oras',
    format: 'bundle of ARC as an OCI archive',
    write: (ground, reference) =>
      oras(ground, 'cp --from-plain-http --to-plain-http', `${ground.base}/index:1`, reference),
    async read(ground, reference) {
      await ground.arc('export', reference, `${ground.folder}/out.tar`);
      const digest = await digestAt(ground, reference);
      await oras(ground, 'cp --from-oci-layout --to-oci-layout', `out.tar@${digest}`, 'read:1');
    },
  },
];

const keys = ['--use-signing-config=false', '--tlog-upload=false', '--yes', '--key', 'cosign.key'];
const byKey = ['--insecure-ignore-tlog=true', '--key', 'cosign.pub'];
async function signedImage(ground: Ground, reference: string): Promise<string> {
  await ground.run('cosign', 'generate-key-pair');
  await ground.run('crane', 'copy', `${ground.base}/index:1`, reference);
  return `${reference.replace(/:1$/, '')}@${await digestAt(ground, reference)}`;
}
const signed = (format: string, ...flags: string[]): Case => ({
  tool: 'cosign',
  format,
  write: async (ground, reference) =>
    ground.run('cosign', 'sign', ...keys, ...flags, await signedImage(ground, reference)),
  read: ({ run }, reference) => run('cosign', 'verify', ...byKey, ...flags, reference),
});
const attested = (format: string, ...flags: string[]): Case => ({
  tool: 'cosign',
  format,
  async write(ground, reference) {
    const predicate = ['--type', 'custom', '--predicate', await file(ground, 'predicate.json', '{"a":1}')];
    await ground.run(
      'cosign',
      'attest',
      ...keys,
      ...flags,
      ...predicate,
      await signedImage(ground, reference),
    );
  },
  read: ({ run }, reference) =>
    run('cosign', 'verify-attestation', '--type', 'custom', ...byKey, ...flags, reference),
});

const cosignCases: readonly Case[] = [
  signed('signature under a tag', '--new-bundle-format=false'),
  signed('signature as a bundle'),
  attested('attestation under a tag', '--new-bundle-format=false'),
  attested('attestation as a bundle'),
  {
    tool: 'cosign',
    format: 'OCI layout of ARC, which skopeo, regctl and oras read as well',
    async write(ground, reference) {
      const image = await signedImage(ground, reference);
      await ground.run('cosign', 'sign', ...keys, '--new-bundle-format=false', image);
      await attach(ground, reference);
    },
    async read(ground, reference) {
      const { run, folder } = ground;
      await ground.arc('copy', reference, `oci-layout:${folder}/read:1`);
      await run('cosign', 'verify', ...byKey, '--local-image', 'read');
      await run('skopeo', '--insecure-policy', 'copy', '--all', 'oci:read:1', `dir:${folder}/copied`);
      const trees = [
        await run('regctl', 'artifact', 'tree', 'ocidir://read:1'),
        await run('oras', 'discover', '--oci-layout', '--format=tree', 'read:1'),
      ];
      for (const type of ['application/example.sbom', 'application/example.signature'])
        for (const found of trees)
          if (!found.includes(type)) throw new Error(`${type} is missing:\n${found}`);
    },
  },
  {
    tool: 'cosign',
    format: 'SBOM under a tag',
    async write(ground, reference) {
      const image = await signedImage(ground, reference);
      await ground.run('cosign', 'attach', 'sbom', '--sbom', await file(ground, 'sbom.spdx'), image);
    },
    async read({ run }, reference) {
      const found = await run('cosign', 'download', 'sbom', reference);
      if (!found.includes(content.trim())) throw new Error(`another SBOM: ${found}`);
    },
  },
  {
    tool: 'cosign',
    format: 'uploaded file',
    write: async (ground, reference) =>
      ground.run('cosign', 'upload', 'blob', '--files', await file(ground, 'a.txt'), reference),
    async read({ run }, reference) {
      const { layers } = JSON.parse(await run('crane', 'manifest', reference));
      const found = await run('crane', 'blob', `${reference.replace(/:1$/, '')}@${layers[0].digest}`);
      if (found !== content.trim()) throw new Error(`another file: ${found}`);
    },
  },
];

const chart = {
  'Chart.yaml': chartYaml('demo', '1.0.0'),
  'values.yaml': 'a: 1\n',
  'templates/a.yaml': 'kind: A\n',
};
const helm = (format: string, provenance?: string): Case => ({
  tool: 'Helm',
  format,
  async write(ground, reference) {
    await writeFile(path.join(ground.folder, 'demo-1.0.0.tgz'), await packChart(chart));
    const signature = provenance === undefined ? [] : [await file(ground, 'demo-1.0.0.tgz.prov', provenance)];
    const as = `${reference.replace(/:1$/, '')}/demo:1.0.0`;
    await ground.run('helm-judge', 'push', 'demo-1.0.0.tgz', as, '2024-05-06T07:08:09Z', ...signature);
  },
  async read({ run }, reference) {
    const found = JSON.parse(await run('helm-judge', 'pull', `${reference.replace(/:1$/, '')}/demo:1.0.0`));
    if (found.name !== 'demo' || found.provenance !== (provenance?.length ?? 0))
      throw new Error(JSON.stringify(found));
  },
  async move(ground, from, to) {
    const chartAt = (reference: string) => `${reference.replace(/:1$/, '')}/demo:1.0.0`;
    await ground.arc('copy', chartAt(from), chartAt(to));
  },
});

const syft: Case = {
  tool: 'syft',
  format: 'image that is scanned',
  write: ({ run, base }, reference) => run('crane', 'copy', `${base}/image:1`, reference),
  async read(ground, reference) {
    const found = await ground.run(
      'syft',
      'scan',
      '--from',
      'registry',
      '--quiet',
      '-o',
      'syft-json',
      reference,
    );
    const digest = await digestAt(ground, reference);
    if (!found.includes(digest)) throw new Error(`the SBOM does not name ${digest}`);
  },
};

const umoci = (format: string, layers: number): Case => ({
  tool: 'umoci',
  format,
  async write(ground, reference) {
    const { run, folder } = ground;
    await run('umoci', 'init', '--layout', 'written');
    await run('umoci', 'new', '--image', 'written:1');
    const added = await file(ground, 'a.txt');
    for (let layer = 0; layer < layers; layer += 1)
      await run('umoci', 'insert', '--rootless', '--image', 'written:1', added, `/${layer}/a.txt`);
    await ground.arc('copy', `oci-layout:${folder}/written:1`, reference);
  },
  async read(ground, reference) {
    await ground.arc('copy', reference, `oci-layout:${ground.folder}/read:1`);
    await ground.run('umoci', 'unpack', '--rootless', '--image', 'read:1', 'unpacked');
    for (let layer = 0; layer < layers; layer += 1)
      await expectFile(ground, `unpacked/rootfs/${layer}/a.txt`);
  },
});

export const artifactCases: readonly Case[] = [
  ...orasCases,
  ...cosignCases,
  helm('chart'),
  helm('chart with provenance', '-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n'),
  ...[syft, umoci('OCI layout', 1), umoci('OCI layout of 20 layers', 20)],
];
