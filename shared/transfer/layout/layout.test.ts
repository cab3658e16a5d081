import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Registry, seedImage, startRegistry } from '../../local/registry/index.ts';
import { copyArtifact } from '../artifact/copy-artifact.ts';
import type { ContentSink, ContentSource } from '../content/content.ts';
import { ociIndex } from '../content/manifest.ts';
import { registrySink, registrySource } from '../oci/registry-content.ts';
import type { Session } from '../oci/session.ts';
import { digestOf } from '../reference/digest.ts';
import { layoutFiles } from './layout-files.ts';
import { layoutSink } from './layout-sink.ts';
import { layoutReaderSource, layoutSource } from './layout-source.ts';

const running: Registry[] = [];
let workDir = '';
let folder = '';

beforeEach(async () => {
  workDir = await mkdtemp(path.join(os.tmpdir(), 'arc-layout-'));
  folder = path.join(workDir, 'layout');
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((registry) => registry.close()));
  await rm(workDir, { recursive: true });
});

async function registry(): Promise<Registry> {
  const started = await startRegistry({});
  running.push(started);
  return started;
}

type Open<End> = End | ((session: Session) => End);

/** Copies; an end of a registry is opened in the session of the copy. */
function copy(source: Open<ContentSource>, destination: Open<ContentSink>) {
  const signal = new AbortController().signal;
  const options = {
    signal,
    workDir: path.join(workDir, 'work'),
    retry: { attempts: 2, baseMs: 1, maxMs: 2 },
  };
  return copyArtifact(options, async ({ session }) => ({
    source: typeof source === 'function' ? source(session) : source,
    destination: typeof destination === 'function' ? destination(session) : destination,
  }));
}

const at = (name: string, { url }: Registry, image: string) => ({ name, remoteURL: url, image });
const from = (one: Registry, image: string) => (session: Session) =>
  registrySource(session.repository(at('src', one, image), 'pull'));
const to = (one: Registry, image: string) => (session: Session) =>
  registrySink(session.repository(at('dst', one, image), 'pull,push'));
const index = async () => JSON.parse(await readFile(path.join(folder, 'index.json'), 'utf8'));
const descriptor = (mediaType: string, bytes: Buffer) => ({
  mediaType,
  digest: digestOf(bytes),
  size: bytes.length,
});
const blob = (digest: string) => path.join(folder, 'blobs', digest.replace(':', '/'));

describe('an OCI layout', () => {
  it('of many artifacts is not searched anew for the referrers of each', async () => {
    const source = await registry();
    const { digest } = await seedImage(source, 'team/app', '1.0');
    await copy(from(source, 'team/app:1.0'), layoutSink({ folder, tag: '1.0' }));
    const files = layoutFiles(folder);
    let opened = 0;
    const counting = {
      ...files,
      open(...asked: Parameters<typeof files.open>) {
        opened += 1;
        return files.open(...asked);
      },
    };
    const known = new Map();
    const { signal } = new AbortController();
    const found = async () => {
      const one = layoutReaderSource(counting, { digest }, known);
      const root = await one.root(signal);
      opened = 0;
      const referrers = await one.findReferrers(root, () => undefined, signal);
      return [referrers.map(({ manifest }) => manifest.digest), opened > 0];
    };
    const [first] = await found();
    expect(first).not.toEqual([]);
    expect(await found()).toEqual([first, false]);
  });

  it('carries an image with platforms, signature and SBOM from one registry to another', async () => {
    const [source, destination] = [await registry(), await registry()];
    const { digest } = await seedImage(source, 'team/app', '1.0');
    const there = await copy(from(source, 'team/app:1.0'), layoutSink({ folder, tag: '1.0' }));
    expect(there).toMatchObject({ digest, warnings: [] });
    expect(there.referrers).toBeGreaterThan(0);
    const back = await copy(layoutSource({ folder, tag: '1.0' }), to(destination, 'mirror/app:1.0'));
    expect(back).toMatchObject({ digest, referrers: there.referrers });
    const [before, after] = [source.contents.get('team/app'), destination.contents.get('mirror/app')];
    expect([...(after?.manifests.keys() ?? [])].sort()).toEqual([...(before?.manifests.keys() ?? [])].sort());
    expect(after?.tags.get('1.0')).toBe(digest);
  });

  /** Keeps of the layout what regctl writes, the lists of referrers under names of their own, or what oras writes, the referrers without a name. */
  async function asWrittenBy(tool: 'regctl' | 'oras') {
    const { manifests, ...rest } = await index();
    const isReferrer = ({ artifactType }: { artifactType?: string }) => artifactType !== undefined;
    const isList = ({ annotations = {} }: { annotations?: Record<string, string> }) =>
      annotations['org.opencontainers.image.ref.name']?.startsWith('sha256-') === true;
    const isOther = tool === 'regctl' ? isReferrer : isList;
    const kept = manifests.filter((entry: object) => !isOther(entry));
    expect(kept.length).toBeLessThan(manifests.length);
    await writeFile(path.join(folder, 'index.json'), JSON.stringify({ ...rest, manifests: kept }));
  }

  it('that regctl has written carries its referrers, and its only image needs no name', async () => {
    const [source, destination] = [await registry(), await registry()];
    const { digest, signature = '' } = await seedImage(source, 'team/app', '1.0');
    await copy(from(source, 'team/app:1.0'), layoutSink({ folder, tag: '1.0' }));
    await asWrittenBy('regctl');
    const back = await copy(layoutSource({ folder }), to(destination, 'mirror/app:1.0'));
    expect(back).toMatchObject({ digest, referrers: 1, warnings: [] });
    expect(destination.contents.get('mirror/app')?.manifests.has(signature)).toBe(true);
  });

  it('that lists a referrer and does not hold it loses none in silence', async () => {
    const [source, destination] = [await registry(), await registry()];
    const { signature = '' } = await seedImage(source, 'team/app', '1.0');
    await copy(from(source, 'team/app:1.0'), layoutSink({ folder, tag: '1.0' }));
    await rm(blob(signature));
    await expect(copy(layoutSource({ folder }), to(destination, 'mirror/app:1.0'))).rejects.toThrow(
      /lists sha256:.* for sha256:.* but does not contain it, so it would be lost/,
    );
    await asWrittenBy('oras');
    const back = await copy(layoutSource({ folder, tag: '1.0' }), to(destination, 'mirror/app:1.0'));
    expect(back.warnings).toEqual([expect.stringContaining(`lists ${signature} but does not contain it`)]);
  });

  it('is as the specification has it', async () => {
    const source = await registry();
    const { digest } = await seedImage(source, 'team/app', '1.0');
    await copy(from(source, 'team/app:1.0'), layoutSink({ folder, tag: '1.0' }));
    expect(JSON.parse(await readFile(path.join(folder, 'oci-layout'), 'utf8'))).toEqual({
      imageLayoutVersion: '1.0.0',
    });
    const { schemaVersion, manifests } = await index();
    expect(schemaVersion).toBe(2);
    expect(manifests.at(-1)).toMatchObject({
      digest,
      annotations: { 'org.opencontainers.image.ref.name': '1.0' },
    });
    for (const name of await readdir(path.join(folder, 'blobs/sha256')))
      expect(digestOf(await readFile(blob(`sha256:${name}`)))).toBe(`sha256:${name}`);
  });

  it('carries a build cache, whose index lists layers, and sends nothing of it twice', async () => {
    const children = [
      ['application/vnd.oci.image.layer.v1.tar+gzip', gzipSync('a layer')],
      ['application/vnd.buildkit.cacheconfig.v0', Buffer.from('{"layers":[]}')],
    ] as const;
    const manifests = children.map(([mediaType, bytes]) => descriptor(mediaType, bytes));
    const cache = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: ociIndex, manifests }));
    const entry = descriptor(ociIndex, cache);
    await mkdir(path.join(folder, 'blobs/sha256'), { recursive: true });
    for (const bytes of [cache, ...children.map(([, content]) => content)])
      await writeFile(blob(digestOf(bytes)), bytes);
    await writeFile(path.join(folder, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
    await writeFile(
      path.join(folder, 'index.json'),
      JSON.stringify({ schemaVersion: 2, manifests: [entry] }),
    );
    const carry = () => copy(layoutSource({ folder }), layoutSink({ folder: `${folder}-2`, tag: 'cache' }));
    expect(await carry()).toMatchObject({ digest: entry.digest, blobs: { copied: 2 } });
    expect(await carry()).toMatchObject({ digest: entry.digest, bytes: { copied: 0 } });
  });

  it('sends nothing twice, and keeps other artifacts when one is replaced', async () => {
    const source = await registry();
    await seedImage(source, 'team/app', '1.0');
    const { digest: other } = await seedImage(source, 'team/other', '2.0');
    await copy(from(source, 'team/app:1.0'), layoutSink({ folder, tag: 'a' }));
    await copy(from(source, 'team/app:1.0'), layoutSink({ folder, tag: 'b' }));
    const { bytes } = await copy(from(source, 'team/app:1.0'), layoutSink({ folder, tag: 'a' }));
    expect(bytes.copied).toBe(0);
    await copy(from(source, 'team/other:2.0'), layoutSink({ folder, tag: 'a' }));
    const named = (await index()).manifests.flatMap(({ annotations }: { annotations?: object }) =>
      Object.values(annotations ?? {}),
    );
    expect(named.filter((name: string) => /^[ab]$/.test(name)).sort()).toEqual(['a', 'b']);
    await expect(
      copy(layoutSource({ folder, tag: 'a' }), layoutSink({ folder, tag: 'c' })),
    ).resolves.toMatchObject({
      digest: other,
    });
  });

  it.each([
    ['a name that is not there', { tag: '9.9' }, 'has no artifact named "9.9"; it has 1.0, 2.0'],
    ['no name, of several', {}, 'has not exactly one artifact; it has 1.0, 2.0'],
  ])('refuses %s, and says what there is', async (_, wanted, message) => {
    const source = await registry();
    await seedImage(source, 'team/app', '1.0', { signature: false });
    for (const tag of ['1.0', '2.0']) await copy(from(source, 'team/app:1.0'), layoutSink({ folder, tag }));
    await expect(
      copy(layoutSource({ folder, ...wanted }), layoutSink({ folder: `${folder}2` })),
    ).rejects.toThrow(message);
  });

  it('is not trusted: wrong bytes, links and names that lead elsewhere', async () => {
    const source = await registry();
    const { digest } = await seedImage(source, 'team/app', '1.0', { signature: false });
    await copy(from(source, 'team/app:1.0'), layoutSink({ folder, tag: '1.0' }));
    const again = () =>
      copy(layoutSource({ folder, tag: '1.0' }), layoutSink({ folder: `${folder}-2`, tag: 'x' }));
    const [child] = JSON.parse(await readFile(blob(digest), 'utf8')).manifests;
    const [layer] = JSON.parse(await readFile(blob(child.digest), 'utf8')).layers;
    const content = await readFile(blob(layer.digest));
    await writeFile(blob(layer.digest), Buffer.alloc(content.length));
    await expect(again()).rejects.toThrow(layer.digest);
    await writeFile(path.join(workDir, 'elsewhere'), content);
    await rm(blob(layer.digest));
    await symlink(path.join(workDir, 'elsewhere'), blob(layer.digest));
    await expect(again()).rejects.toThrow('Cannot read');
    await rm(blob(layer.digest));
    await expect(again()).rejects.toThrow('has no blob');
    await writeFile(blob(digest), '{}');
    await expect(again()).rejects.toThrow(/not an image manifest|wrong bytes/);
    const bad = {
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      digest: 'sha256:../../x',
      size: 1,
    };
    await writeFile(path.join(folder, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests: [bad] }));
    await expect(again()).rejects.toThrow('no valid digest');
  });

  it('does not write into a folder that is no layout, or of another version', async () => {
    const source = await registry();
    await seedImage(source, 'team/app', '1.0', { signature: false });
    await mkdir(folder);
    await writeFile(path.join(folder, 'index.json'), '{"schemaVersion":2,"manifests":[]}');
    const write = () => copy(from(source, 'team/app:1.0'), layoutSink({ folder }));
    await expect(write()).rejects.toThrow('use another folder');
    await writeFile(path.join(folder, 'oci-layout'), '{"imageLayoutVersion":"2.0.0"}');
    await expect(write()).rejects.toThrow('imageLayoutVersion 1.x');
  });

  it('is complete or unchanged when a copy is cut short, and the next one goes on', async () => {
    const source = await registry();
    const { digest } = await seedImage(source, 'team/app', '1.0');
    const stop = new AbortController();
    const options = {
      signal: stop.signal,
      workDir: path.join(workDir, 'work'),
      progress: () => stop.abort(new Error('cut short')),
    };
    const cut = copyArtifact(options, async ({ session }) => ({
      source: from(source, 'team/app:1.0')(session),
      destination: layoutSink({ folder, tag: '1.0' }),
    }));
    await expect(cut).rejects.toThrow();
    await expect(index()).rejects.toThrow('ENOENT');
    await copy(from(source, 'team/app:1.0'), layoutSink({ folder, tag: '1.0' }));
    expect((await index()).manifests.at(-1)).toMatchObject({ digest });
    expect(
      (await readdir(path.join(folder, 'blobs/sha256'))).filter((name) => !/^[0-9a-f]{64}$/.test(name)),
    ).toEqual([]);
  });
});
