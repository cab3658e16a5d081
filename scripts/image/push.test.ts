import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Registry, type RegistryOptions, seedImage, startRegistry } from '#shared/local';
import { digestOf, openSession, resolveDigest } from '#shared/transfer';
import { assembleImage } from './assemble.ts';
import { readBase } from './base.ts';
import { makeLayer } from './layer.ts';
import { writeLayout } from './layout.ts';
import { pushImage } from './push.ts';
import { locate } from './registry-access.ts';

const running: Registry[] = [];
const { signal } = new AbortController();
let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-push-'));
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((each) => each.close()));
  await rm(folder, { recursive: true });
});

async function registry(options: RegistryOptions = {}): Promise<Registry> {
  const started = await startRegistry(options);
  running.push(started);
  return started;
}

const account = { username: 'bob', password: 'hunter22' };
const auth = Buffer.from(`${account.username}:${account.password}`).toString('base64');

/** What `npm run image` does, with a small layer in the place of Node. */
async function push(
  to: string,
  from?: string,
  config?: string,
): Promise<{ digest: string; notes: string[] }> {
  const session = openSession({ retry: { attempts: 2, baseMs: 1, maxMs: 2 } });
  const notes: string[] = [];
  try {
    const repository = from === undefined ? undefined : session.repository(locate(from, config), 'pull');
    const base = repository && (await readBase(session, repository, 'amd64', signal));
    const content = Buffer.from('a program');
    const layer = await makeLayer([{ type: 'file', path: 'app/a.mjs', mode: 0o644, content }], 0, 'a');
    const image = assembleImage({ base, architecture: 'amd64', layers: [layer], created: 0, version: '1' });
    const destination = session.repository(locate(to, config), 'pull,push');
    const note = (text: string): void => void notes.push(text);
    await pushImage(image, { session, destination, base: repository, folder, note }, signal);
    await writeLayout(
      [image],
      { folder: path.join(folder, 'layout'), name: 'a.b/c:1', session, base: repository },
      signal,
    );
    return { digest: image.manifest.digest, notes };
  } finally {
    session.close();
  }
}

const served = (at: Registry, image: string) => resolveDigest({ remoteURL: at.url, image }, signal);
const uploads = (at: Registry) => at.count('PUT', /\/blobs\/uploads\//);

describe('pushImage', () => {
  it('stores an image on nothing, to be pulled by digest; again sends no blob', async () => {
    const at = await registry();
    const { digest } = await push(`${at.host}/arc/functions:1`);
    expect(await served(at, 'arc/functions:1')).toBe(digest);
    expect(await served(at, `arc/functions@${digest}`)).toBe(digest);
    expect(uploads(at)).toBe(2);
    const again = await push(`${at.host}/arc/functions:1`);
    expect(again.digest).toBe(digest);
    expect(again.notes.every((note) => note.endsWith(' existed'))).toBe(true);
    expect(uploads(at)).toBe(2);
  });

  it('mounts the layers of a base in the same registry', async () => {
    const at = await registry();
    await seedImage(at, 'library/base', '1', { layers: 2, signature: false });
    const { notes } = await push(`${at.host}/arc/functions:1`, `${at.host}/library/base:1`);
    expect(notes.filter((note) => note.endsWith(' mounted'))).toHaveLength(2);
    expect(at.count('GET', /library\/base\/blobs/)).toBe(3); // its configuration, and both layers for the layout
    expect(uploads(at)).toBe(2);
  });

  it('copies the layers of a base in another registry, with the credentials of docker login', async () => {
    const [source, at] = [await registry(account), await registry(account)];
    const { children } = await seedImage(source, 'library/base', '1', { signature: false });
    const config = JSON.stringify({ auths: { [source.host]: { auth }, [at.host]: { auth } } });
    const { digest, notes } = await push(
      `${at.host}/arc/functions:1`,
      `${source.host}/library/base:1`,
      config,
    );
    expect(notes.filter((note) => note.endsWith(' copied'))).toHaveLength(4);
    const stored = at.contents.get('arc/functions')?.manifests.get(digest);
    const of = source.contents.get('library/base')?.manifests.get(children[0] ?? '');
    const layers = (bytes: Buffer | undefined) =>
      JSON.parse(String(bytes)).layers.map((each: object) => each);
    expect(layers(stored?.bytes).slice(0, 2)).toEqual(layers(of?.bytes));
  });

  it('says that the base has no image for this platform', async () => {
    const at = await registry();
    await seedImage(at, 'library/base', '1', { platforms: ['linux/s390x'], signature: false });
    await expect(push(`${at.host}/arc/functions:1`, `${at.host}/library/base:1`)).rejects.toThrow(
      `The base image ${at.host}/library/base:1 is unsuitable: it has no image for linux/amd64.`,
    );
    await expect(push(`${at.host}/arc/functions:1`, `${at.host}/library/none:1`)).rejects.toThrow('404');
  });
});

describe('writeLayout', () => {
  it('holds every blob under its digest, replaces a layout and touches nothing else', async () => {
    const at = await registry();
    await seedImage(at, 'library/base', '1', { signature: false });
    await push(`${at.host}/arc/functions:1`);
    const { digest } = await push(`${at.host}/arc/functions:1`, `${at.host}/library/base:1`);
    const layout = path.join(folder, 'layout');
    const { manifests } = JSON.parse(await readFile(path.join(layout, 'index.json'), 'utf8'));
    expect(manifests).toEqual([
      {
        mediaType: 'application/vnd.oci.image.manifest.v1+json',
        digest,
        size: expect.any(Number),
        platform: { architecture: 'amd64', os: 'linux' },
        annotations: {
          'io.containerd.image.name': 'a.b/c:1',
          'org.opencontainers.image.ref.name': '1',
        },
      },
    ]);
    const blobs = await readdir(path.join(layout, 'blobs/sha256'));
    expect(blobs).toHaveLength(5); // two layers of the base, our layer, configuration, manifest
    for (const name of blobs)
      expect(digestOf(await readFile(path.join(layout, 'blobs/sha256', name)))).toBe(`sha256:${name}`);
    const image = assembleImage({
      base: undefined,
      architecture: 'amd64',
      layers: [],
      created: 0,
      version: '1',
    });
    const options = { name: undefined, session: openSession(), base: undefined };
    await expect(writeLayout([image], { ...options, folder }, signal)).rejects.toThrow('not an OCI layout');
    expect(await readdir(folder)).toEqual(['layout']);
  });

  it('holds an index of the images of several architectures under one name', async () => {
    const made = { base: undefined, layers: [], created: 0, version: '1' };
    const images = ['amd64', 'arm64'].map((architecture) => assembleImage({ ...made, architecture }));
    const [first, ...others] = images;
    if (first === undefined) throw new Error('no image');
    const layout = path.join(folder, 'two');
    const options = { folder: layout, name: 'a.b/c:1', session: openSession(), base: undefined };
    const root = await writeLayout([first, ...others], options, signal);
    const read = async (file: string) => JSON.parse(await readFile(path.join(layout, file), 'utf8'));
    expect((await read('index.json')).manifests).toMatchObject([
      { digest: root.digest, annotations: { 'org.opencontainers.image.ref.name': '1' } },
    ]);
    expect((await read(path.join('blobs', root.digest.replace(':', '/')))).manifests).toMatchObject(
      images.map(({ manifest: { digest }, platform }) => ({ digest, platform })),
    );
  });
});
