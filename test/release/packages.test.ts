import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { cp, mkdir, mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { findRuntime, systemEntries } from '../../scripts/image/runtime.ts';
import { eventually } from '../../shared/base/testing/eventually.ts';
import { writeEntries } from '../fixtures/image/image-root.ts';
import { crane, type RegistryProcess, startRegistryProcess } from '../fixtures/image/registry-tools.ts';
import { releaseJudges } from '../fixtures/judges/release-judges.ts';
import { judgeBy, transferJudges } from '../fixtures/judges/transfer-judges.ts';
import { type Program, start } from '../fixtures/program.ts';

// One release, made as its maker makes it, and used as those do who download it.
const tools = transferJudges();
const assets = releaseJudges();
if (!tools || !assets)
  console.log('skipped: the tests of a release need REGISTRY_TOOLS and KUBEBUILDER_ASSETS');
const minutes = 60_000;
const isSoak = process.env.ARC_SOAK_SECONDS !== undefined;
vi.setConfig({ testTimeout: 4 * minutes, hookTimeout: 15 * minutes });
const run = promisify(execFile);
const { version }: { version: string } = JSON.parse(await readFile('package.json', 'utf8'));

describe.skipIf(!tools || !assets)('a release', () => {
  let work = '';
  let digest = '';
  const inWork = (...names: string[]) => path.join(work, ...names);
  const released = (name: string) => inWork('release', name.replace('VERSION', version));
  const text = (name: string) => readFile(released(name), 'utf8');
  const env = { PATH: `${assets}:${process.env.PATH}`, HOME: os.homedir() };
  const cosign = (...args: string[]) => judgeBy(tools ?? '', ['cosign', ...args], { home: work });
  const byKey = () => ['--key', inWork('key.pub'), '--insecure-ignore-tlog=true'];

  beforeAll(async () => {
    work = await mkdtemp(path.join(os.tmpdir(), 'arc-release-test-'));
    // ECDSA, as cosign makes keys; signatures of Ed25519 are the same each time.
    const { privateKey, publicKey } = isSoak
      ? generateKeyPairSync('ed25519')
      : generateKeyPairSync('ec', { namedCurve: 'P-256' });
    await writeFile(inWork('key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
    await writeFile(inWork('key.pub'), publicKey.export({ type: 'spki', format: 'pem' }));
    digest = await make('release');
  });
  afterAll(async () => {
    if (work !== '') await rm(work, { recursive: true, force: true });
  });

  it.runIf(isSoak)('has the same bytes when it is made again', { timeout: 15 * minutes }, async () => {
    expect(await make('again')).toBe(digest);
    for (const name of ['SHA256SUMS', 'SHA256SUMS.sigstore.json', 'provenance.sigstore.json'])
      expect(await readFile(inWork('again', name)), name).toEqual(await readFile(released(name)));
  });

  it('has the checksum of every file, signed', async () => {
    await run('sha256sum', ['-c', '--quiet', 'SHA256SUMS'], { cwd: inWork('release') });
    const listed = (await text('SHA256SUMS'))
      .trim()
      .split('\n')
      .map((line) => line.slice(66));
    const own = /^(image\/blobs\/|SHA256SUMS|provenance)/;
    const entries = await readdir(inWork('release'), { recursive: true, withFileTypes: true });
    const files = entries
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(inWork('release'), path.join(entry.parentPath, entry.name)));
    expect(listed).toEqual(files.filter((name) => !own.test(name)).toSorted());
    const bundle = ['--bundle', released('SHA256SUMS.sigstore.json')];
    await cosign('verify-blob', ...byKey(), ...bundle, released('SHA256SUMS'));
    await expect(cosign('verify-blob', ...byKey(), ...bundle, released('krew-arc.yaml'))).rejects.toThrow();
  });

  it('has the provenance of each of them, signed', async () => {
    const bundle = ['--bundle', released('provenance.sigstore.json'), '--type', 'slsaprovenance1'];
    for (const name of ['artifact-conduit-VERSION.tgz', 'arcctl-VERSION-linux-arm64.tar.gz'])
      await cosign('verify-blob-attestation', ...byKey(), ...bundle, released(name));
    const { predicate } = JSON.parse(await text('provenance.json'));
    const [sources] = predicate.buildDefinition.resolvedDependencies;
    expect(sources.digest.gitCommit).toMatch(/^[0-9a-f]{40}$/);
  });

  it('has SBOMs of what is in it, which scanners read, and the licences', async () => {
    for (const form of ['cdx', 'spdx']) {
      const sbom = released(`artifact-conduit-VERSION.${form}.json`);
      const known = await judgeBy(tools ?? '', ['syft', 'convert', sbom, '-o', 'syft-json'], { home: work });
      const names = JSON.parse(known).artifacts.map((each: { name: string }) => each.name);
      expect(names).toEqual(expect.arrayContaining(['hono', 'commander', 'lmdb', 'libc6', 'node']));
      // Neither a compiler nor a test runner is in it.
      expect(names).not.toContain('typescript');
      expect(names).not.toContain('vitest');
    }
    const licenses = await text('THIRD-PARTY.txt');
    for (const title of [/^hono \S+ \(MIT\)$/m, /^lmdb \S+ \(MIT\)$/m, /^Node\.js /m, /^libc6 .*of Debian/m])
      expect(licenses).toMatch(title);
  });

  it('names its image by tag and digest, wherever it is named', async () => {
    const named = `registry.example.com/artifact-conduit:v${version}@${digest}`;
    for (const overlay of ['production', 'dev']) {
      const images = new Set((await text(`manifests/${overlay}.yaml`)).match(/(?<=image: ).*conduit.*/g));
      expect([...images]).toEqual([named]);
    }
  });

  describe('the image', () => {
    let registry: RegistryProcess;
    beforeAll(async () => {
      registry = await startRegistryProcess(tools ?? '');
    });
    afterAll(() => registry?.stop());

    it('is copied with its signature and provenance, and is there for both architectures', async () => {
      const to = `${registry.host}/artifact-conduit:v${version}`;
      await unpack('arc-transfer');
      const program = inWork('arc-transfer', 'arc-transfer');
      await run(program, ['copy', `oci-layout:${released('image')}:v${version}`, to, '--quiet'], { env: {} });
      expect(await crane(tools ?? '', 'digest', to)).toBe(digest);
      await cosign('verify', ...byKey(), to);
      await cosign('verify-attestation', ...byKey(), '--type', 'slsaprovenance1', to);
      const { manifests } = JSON.parse(await crane(tools ?? '', 'manifest', to));
      expect(manifests.map(({ platform }: { platform: object }) => platform)).toEqual([
        { architecture: 'amd64', os: 'linux' },
        { architecture: 'arm64', os: 'linux' },
      ]);
    });

    it('is brought by the bundle to a registry that no network reaches', async () => {
      const program = inWork('arc-transfer', 'arc-transfer');
      const bundle = released('artifact-conduit-VERSION-bundle.tar');
      const to = `${registry.host}/mirror/`;
      await run(program, ['import', bundle, to, '--key', inWork('key.pub'), '--quiet'], { env: {} });
      const imported = `${to}artifact-conduit:v${version}`;
      expect(await crane(tools ?? '', 'digest', imported)).toBe(digest);
      await cosign('verify', ...byKey(), imported);
    });
  });

  it('is installed by npm install -g, and runs', async () => {
    const packages = ['arcctl', 'arc-transfer'].map((name) => released(`${name}-VERSION.tgz`));
    const prefix = inWork('npm');
    const offline = ['--offline', '--no-audit', '--no-fund'];
    await run('npm', ['install', '-g', '--prefix', prefix, ...offline, ...packages], { env });
    const node = { PATH: path.dirname(process.execPath), HOME: work };
    for (const name of ['arcctl', 'arc-transfer', 'kubectl-arc']) {
      const { stdout } = await run(path.join(prefix, 'bin', name), ['--version'], { env: node });
      expect(stdout.trim()).toBe(version);
    }
  });

  it('is installed by krew as kubectl arc', async () => {
    const root = { KREW_ROOT: inWork('krew'), HOME: work, PATH: `${inWork('krew', 'bin')}:${env.PATH}` };
    const archive = released('arcctl-VERSION-linux-amd64.tar.gz');
    const args = ['install', `--manifest=${released('krew-arc.yaml')}`, `--archive=${archive}`];
    await run(path.join(assets ?? '', 'krew'), args, { env: root });
    const { stdout } = await run('kubectl', ['arc', '--help'], { env: root });
    expect(stdout).toMatch(/^Usage: kubectl arc /);
  });

  describe('where there is no Node', () => {
    let standalone: Program | undefined;
    const root = () => inWork('root');
    const inRoot = (...command: string[]) => start('/usr/sbin/chroot', [root(), ...command], {});

    beforeAll(async () => {
      // glibc and libstdc++, and nothing else.
      await writeEntries(await systemEntries(await findRuntime()), root());
      for (const name of ['arcctl', 'arc-transfer', 'arc-standalone']) {
        await unpack(name);
        await cp(inWork(name, name), path.join(root(), name));
      }
    });
    afterAll(async () => {
      await standalone?.stop();
    });

    it.each(['arcctl', 'arc-transfer', 'arc-standalone'])('%s runs', async (name) => {
      const program = inRoot(`/${name}`, '--version');
      expect(await program.ended, program.output.stderr).toBe(0);
      expect(program.output.stdout.trim()).toBe(version);
    });

    it('the standalone moves an image, with no program on its PATH', async () => {
      // Outside of the root: its steps need /dev and /proc.
      const args = ['--folder', inWork('state'), '--with-registry'];
      const own = { PATH: inWork('nothing'), HOME: work };
      standalone = start(inWork('arc-standalone', 'arc-standalone'), args, own);
      const { output } = standalone;
      await eventually('the standalone to be ready', 2 * minutes, () =>
        expect(output.stdout, output.stderr).toContain('ARC is running'),
      );
      const order = /kubectl apply -f (\S+)/.exec(output.stdout)?.[1] ?? '';
      const kubectl = (...given: string[]) =>
        run('kubectl', [`--kubeconfig=${inWork('state', 'kubeconfig')}`, ...given], { env });
      await kubectl('apply', '-f', order);
      await kubectl('-n', 'trial', 'wait', '--for=condition=Ready', 'order/first', '--timeout=2m');
    });

    it('they are made for arm64, too', async () => {
      for (const name of ['arcctl', 'arc-transfer', 'arc-standalone']) {
        await unpack(name, 'arm64');
        const file = await open(inWork(`${name}-arm64`, name));
        const { buffer } = await file.read(Buffer.alloc(20), 0, 20, 0);
        await file.close();
        expect(buffer.readUInt16LE(18)).toBe(183); // EM_AARCH64
      }
    });
  });

  /** Makes a release in a folder; resolves with the digest of its image. */
  async function make(name: string): Promise<string> {
    const args = ['scripts/release.ts', '--folder', inWork(name), '--key', inWork('key.pem')];
    const { stdout } = await run(process.execPath, args, { env, timeout: 15 * minutes });
    return stdout.trim();
  }

  /** Unpacks an executable for this machine into a folder of its name. */
  async function unpack(name: string, architecture = 'amd64'): Promise<void> {
    const folder = inWork(architecture === 'amd64' ? name : `${name}-${architecture}`);
    await mkdir(folder, { recursive: true });
    await run('tar', ['-xzf', released(`${name}-VERSION-linux-${architecture}.tar.gz`), '-C', folder]);
  }
});
