import { execFile } from 'node:child_process';
import { mkdtemp, rm, truncate } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Registry, seedImage, startRegistry } from '#shared/local';
import { run as arcTransfer } from '../../scripts/arc-transfer/program.ts';
import { crane, registryTools } from '../fixtures/image/registry-tools.ts';
import { packages, serverPrograms } from '../fixtures/servers/programs.ts';
import { type Server, startServer } from '../fixtures/servers/server.ts';

const tools = registryTools();
const programs = serverPrograms();
if (!tools || !programs)
  console.log(
    `skipped: what a registry loses needs REGISTRY_TOOLS (.ci/registry-tools/build.sh) and ${packages}`,
  );
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });
const run = promisify(execFile);

describe.skipIf(!tools || !programs).each([
  ["Debian's registry 2.8", () => programs?.registry ?? ''],
  ['distribution 3', () => path.join(tools ?? '', 'registry')],
])('%s that loses files from its disk', (_, command) => {
  let folder = '';
  let source: Registry;
  let destination: Server;
  let image: Awaited<ReturnType<typeof seedImage>>;
  beforeAll(async () => {
    folder = await mkdtemp(`${os.tmpdir()}/arc-lost-`);
    source = await startRegistry();
    image = await seedImage(source, 'team/app', '1', { layerBytes: 10_000 });
  });
  beforeEach(async () => {
    destination = await startServer({
      command: command(),
      args: (own) => ['serve', `${own}/config.yml`],
      files: (own, port) => ({
        'config.yml': `version: 0.1\nstorage: { delete: { enabled: true }, filesystem: { rootdirectory: '${own}/data' } }\nhttp: { addr: '127.0.0.1:${port}' }\n`,
      }),
    });
    await copy();
  });
  afterEach(() => destination?.stop());
  afterAll(async () => {
    await source?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const at = () => `127.0.0.1:${destination.port}/mirror/app:1`;

  /** `arc-transfer copy` into the registry; resolves with its result as JSON, and rejects with what it says. */
  const copy = (...options: string[]) => transfer(`${source.host}/team/app:1`, at(), ...options);
  async function transfer(...args: string[]) {
    let [stdout, stderr] = ['', ''];
    const exitCode = await arcTransfer(['copy', '--json', ...args], {
      stdout: { write: (text: string) => (stdout += text) },
      stderr: { write: (text: string) => (stderr += text) },
      env: { DOCKER_CONFIG: folder, TMPDIR: folder },
      signal: AbortSignal.timeout(60_000),
    });
    if (exitCode !== 0) throw new Error(`${exitCode}: ${stderr}`);
    return JSON.parse(stdout);
  }
  const stored = (digest: string) => {
    const hex = digest.replace('sha256:', '');
    return path.join(
      destination.folder,
      'data/docker/registry/v2/blobs/sha256',
      hex.slice(0, 2),
      hex,
      'data',
    );
  };
  const revision = (digest: string) =>
    path.join(
      destination.folder,
      'data/docker/registry/v2/repositories/mirror/app/_manifests/revisions/sha256',
      digest.replace('sha256:', ''),
    );
  /** skopeo reads and hashes all of the image, on every platform. */
  const validated = async () => {
    const plain = ['--all', '--insecure-policy', '--src-tls-verify=false'];
    await run(programs?.skopeo ?? '', ['copy', ...plain, `docker://${at()}`, `dir:${folder}/read`]);
  };
  /** All digests below the root, with the signature's. */
  const contents = () => {
    const { manifests, blobs } = source.contents.get('team/app') ?? {};
    return { manifests: [...(manifests?.keys() ?? [])], blobs: [...(blobs?.keys() ?? [])] };
  };

  it('gets each blob again where the destination is verified, and only there', async () => {
    const { blobs } = contents();
    expect(blobs.length).toBeGreaterThan(5);
    for (const digest of blobs) {
      await rm(stored(digest));
      expect((await copy()).blobs.copied).toBe(0);
      expect(await copy('--verify-destination')).toMatchObject({
        blobs: { copied: 1, existed: blobs.length - 1 },
        repaired: { blobs: 1, manifests: 0 },
      });
    }
    await validated();
    expect(await copy('--verify-destination')).not.toHaveProperty('repaired');
  });

  it.each([
    ['content', stored],
    ['link', revision],
  ])('gets each platform again whose %s is lost', async (_what, place) => {
    for (const digest of image.children) {
      await rm(place(digest), { recursive: true });
      await copy();
      await expect(validated()).rejects.toThrow();
      expect((await copy('--verify-destination')).repaired).toEqual({ blobs: 0, manifests: 1 });
      await validated();
    }
  });

  it('gets everything again at once: all blobs, platforms, the signature, and the root', async () => {
    const { blobs, manifests } = contents();
    for (const digest of [...blobs, ...manifests]) await rm(stored(digest));
    expect((await copy('--verify-destination')).blobs.copied).toBe(blobs.length);
    await validated();
    const tag = await crane(tools ?? '', 'digest', at());
    expect(tag).toBe(image.digest);
    const referrers = await run(path.join(tools ?? '', 'regctl'), [
      ...['artifact', 'list', '--host', `reg=127.0.0.1:${destination.port},tls=disabled`, at()],
      ...['--format', '{{len .Descriptors}}'],
    ]);
    expect(referrers.stdout.trim()).toBe('1');
  });

  it('gets what skopeo and regctl find missing, as they do', async () => {
    const [first = ''] = image.blobs;
    const from = `docker://${source.host}/team/app:1`;
    const plain = ['--preserve-digests', '--src-tls-verify=false', '--dest-tls-verify=false'];
    await rm(stored(first));
    await run(programs?.skopeo ?? '', [
      'copy',
      '--all',
      '--insecure-policy',
      ...plain,
      from,
      `docker://${at()}`,
    ]);
    expect(await copy('--verify-destination')).not.toHaveProperty('repaired');
    await rm(stored(first));
    const hosts = [source.host, `127.0.0.1:${destination.port}`];
    await run(path.join(tools ?? '', 'regctl'), [
      ...['image', 'copy', '--force-recursive'],
      ...hosts.flatMap((host) => ['--host', `reg=${host},tls=disabled`]),
      ...[`${source.host}/team/app:1`, at()],
    ]);
    expect((await copy('--verify-destination')).repaired ?? 'repaired by regctl').toBe('repaired by regctl');
  });

  it('and keeps half a blob is said to do so, as sending it again does not replace it', async () => {
    const [first = ''] = contents().blobs;
    await truncate(stored(first), 10);
    await expect(copy('--verify-destination')).rejects.toThrow(/11: .*keeps a damaged blob sha256:/);
    await rm(stored(first));
    expect((await copy('--verify-destination')).repaired).toEqual({ blobs: 1, manifests: 0 });
  });

  it('and knows no SHA-512 refuses such an image for good, with that reason', async () => {
    const layout = `ocidir://${folder}/sha512-${destination.port}`;
    const regctl = (...args: string[]) => run(path.join(tools ?? '', 'regctl'), args);
    await regctl(
      'image',
      'copy',
      '--host',
      `reg=${source.host},tls=disabled`,
      `${source.host}/team/app:1`,
      `${layout}:1`,
    );
    await regctl('image', 'mod', `${layout}:1`, '--digest-algo', 'sha512', '--create', 'sha512');
    const from = `${layout.replace('ocidir://', 'oci-layout:')}:sha512`;
    await expect(transfer(from, at())).rejects.toThrow(/^11: .*stores manifest sha512:.*SHA-256/);
  });
});
