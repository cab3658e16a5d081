import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtemp, readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { extract } from 'tar-stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { formatReference } from '#shared/domain/address';
import { type Registry, seedImage, startRegistry } from '../../local/registry/index.ts';
import { registrySink, registrySource } from '../oci/registry-content.ts';
import { parseImageName } from '../reference/address.ts';
import { type ExportItem, exportBundle } from './export-bundle.ts';
import { type BundleDestination, importBundle } from './import-bundle.ts';
import { findParts } from './parts.ts';
import { readBundle } from './read-bundle.ts';
import type { BundleRecord } from './record.ts';

const running: Registry[] = [];
let folder = '';
let file = '';
let source: Registry;
let inside: Registry;
const now = new Date('2026-01-01T00:00:00Z');
const ed25519 = generateKeyPairSync('ed25519');
const ecdsa = generateKeyPairSync('ec', { namedCurve: 'P-256' });

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-bundle-'));
  file = path.join(folder, 'out.tar');
  [source, inside] = [await registry(), await registry()];
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((each) => each.close()));
  await rm(folder, { recursive: true });
});

async function registry(): Promise<Registry> {
  const started = await startRegistry({});
  running.push(started);
  return started;
}

const options = (signal = new AbortController().signal) => ({
  signal,
  workDir: path.join(folder, 'work'),
  retry: { attempts: 2, baseMs: 1, maxMs: 2 },
});

function item(image: string): ExportItem {
  return {
    asked: `${source.host}/${image}`,
    open: async ({ session }) => ({
      source: registrySource(session.repository({ name: 'src', remoteURL: source.url, image }, 'pull')),
      name: parseImageName(image),
    }),
  };
}

const bundle = (images: string[], more: object = {}) =>
  exportBundle(images.map(item), { ...options(), file, now, ...more });
const read = (name = file, key?: KeyObject) =>
  readBundle({ name, signal: new AbortController().signal, ...(key && { keys: [key] }) });

/** Below the prefix `mirror/` of the registry inside. */
const destination: BundleDestination = {
  sink: async (name, { session }) => registrySink(session.repository(locationOf(name), 'pull,push')),
  source: async (name, { session }) => registrySource(session.repository(locationOf(name), 'pull')),
};
const locationOf = (name: ReturnType<typeof parseImageName>) => ({
  name: 'dst',
  remoteURL: `${inside.url}/mirror`,
  image: formatReference(name),
});
const bring = async (name = file, signal?: AbortSignal) =>
  importBundle(await read(name), destination, options(signal));
const writes = () => inside.count('POST') + inside.count('PUT') + inside.count('PATCH');

/** Names and types in a tar, in their order. */
async function entriesOf(tar: string): Promise<string[]> {
  const names: string[] = [];
  const archive = extract();
  archive.end(await readFile(tar));
  for await (const entry of archive) {
    names.push(entry.header.name);
    entry.resume();
  }
  return names;
}

/** Changes one byte behind the first `needle`. */
async function tamper(name: string, needle: string | Buffer): Promise<void> {
  const bytes = await readFile(name);
  const at = bytes.indexOf(needle);
  expect(at).toBeGreaterThan(0);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  await writeFile(name, bytes);
}

describe('a bundle', () => {
  it('carries images with platforms and signatures, and records references, digests and contents', async () => {
    const app = await seedImage(source, 'team/app', '1.0');
    const other = await seedImage(source, 'team/other', '2.0');
    const made = await bundle(['team/app:1.0', `team/other@${other.digest}`]);
    expect(made.files).toEqual([file]);
    const names = await entriesOf(file);
    expect(names.slice(0, 3)).toEqual(['arc-bundle.json', 'oci-layout', 'index.json']);
    expect(names.slice(3)).toEqual(
      made.record.blobs.map(({ digest }) => `blobs/${digest.replace(':', '/')}`),
    );
    expect(names.slice(3)).toEqual(names.slice(3).toSorted());
    expect(made.record).toMatchObject({
      created: now.toISOString(),
      items: [
        { asked: `${source.host}/team/app:1.0`, name: 'team/app:1.0', digest: app.digest },
        { name: `team/other@${other.digest}`, mediaType: 'application/vnd.oci.image.index.v1+json' },
      ],
    });
    expect(await bring()).toMatchObject({
      items: [{ outcome: 'imported', referrers: 1 }, { outcome: 'imported' }],
    });
    for (const name of ['team/app', 'team/other'])
      expect([...(inside.contents.get(`mirror/${name}`)?.manifests.keys() ?? [])].sort()).toEqual(
        [...(source.contents.get(name)?.manifests.keys() ?? [])].sort(),
      );
    expect(inside.contents.get('mirror/team/app')?.tags.get('1.0')).toBe(app.digest);
    expect(inside.contents.get('mirror/team/other')?.tags.size).toBe(0);
    const sent = writes();
    await bring();
    expect(writes()).toBe(sent);
    expect((await readdir(folder)).sort()).toEqual(['out.arc-bundle.json', 'out.tar', 'work']);
  });

  it('is reproducible, and replaces nothing', async () => {
    await seedImage(source, 'team/app', '1.0');
    await bundle(['team/app:1.0']);
    const first = await readFile(file);
    await expect(bundle(['team/app:1.0'])).rejects.toThrow('out.tar already exists: remove it');
    for (const each of [file, file.replace('.tar', '.arc-bundle.json')]) await rm(each);
    await bundle(['team/app:1.0']);
    expect((await readFile(file)).equals(first)).toBe(true);
  });

  it('refuses one name twice', async () => {
    await seedImage(source, 'team/app', '1.0');
    await expect(bundle(['team/app:1.0', 'team/app:1.0'])).rejects.toThrow('the same name');
  });

  it.each([
    ['Ed25519', ed25519],
    ['ECDSA', ecdsa],
  ])('is signed with %s, and read only with the right key', async (_, { privateKey, publicKey }) => {
    await seedImage(source, 'team/app', '1.0', { signature: false });
    await bundle(['team/app:1.0'], { signKey: privateKey });
    expect(await read(file, publicKey)).toMatchObject({ signature: 'verified' });
    expect(await read(file)).toMatchObject({ signature: 'unchecked' });
    const wrong = createPublicKey(generateKeyPairSync('ed25519').privateKey);
    await expect(read(file, wrong)).rejects.toThrow('was not made with this key');
    await tamper(file, '2026-01-01');
    await expect(read(file, publicKey)).rejects.toThrow('was not made with this key');
  });

  it('without a signature is refused if a key is given', async () => {
    await seedImage(source, 'team/app', '1.0', { signature: false });
    await bundle(['team/app:1.0']);
    expect(await read(file)).toMatchObject({ signature: 'none' });
    await expect(read(file, ed25519.publicKey)).rejects.toThrow('it is not signed, but a key was given');
  });

  it('with a changed byte anywhere is refused before anything is sent', async () => {
    await seedImage(source, 'team/app', '1.0');
    const { record } = await bundle(['team/app:1.0']);
    const whole = await readFile(file);
    const layer = record.blobs.toSorted((a, b) => b.size - a.size)[0]?.digest ?? '';
    const content = [...(source.contents.get('team/app')?.blobs.entries() ?? [])].find(
      ([digest]) => digest === layer,
    );
    for (const needle of [
      'oci-layout',
      '"imageLayoutVersion',
      'index.json',
      'ref.name',
      content?.[1] ?? '',
      '"version"',
    ]) {
      await writeFile(file, whole);
      await tamper(file, needle);
      await expect(bring(), String(needle).slice(0, 40)).rejects.toMatchObject({ reason: 'permanent' });
    }
    expect(inside.count('GET') + inside.count('HEAD') + writes()).toBe(0);
  });

  it('resumes an interrupted import', async () => {
    await seedImage(source, 'team/app', '1.0');
    await bundle(['team/app:1.0']);
    const stop = new AbortController();
    const cut = importBundle(await read(), destination, {
      ...options(stop.signal),
      progress: (done) => done > 0 && stop.abort(new Error('cut short')),
    });
    await expect(cut).resolves.toMatchObject({ items: [{ outcome: 'failed' }] });
    expect(inside.contents.get('mirror/team/app')?.tags.size ?? 0).toBe(0);
    const { items } = await bring();
    expect(items[0]).toMatchObject({ outcome: 'imported' });
    expect(items[0]?.blobs?.existed).toBeGreaterThan(0);
  });

  it('imports what it can, and reports the outcome of each artifact', async () => {
    for (const name of ['a', 'b']) await seedImage(source, name, '1', { signature: false });
    await bundle(['a:1', 'b:1']);
    const broken: BundleDestination = {
      ...destination,
      async sink(name, context) {
        const sink = await destination.sink(name, context);
        const putManifest: typeof sink.putManifest = () => Promise.reject(new Error('disk on fire'));
        return name.repository === 'a' ? { ...sink, putManifest } : sink;
      },
    };
    const { items, failure } = await importBundle(await read(), broken, options());
    expect(items).toMatchObject([
      { name: 'a:1', outcome: 'failed' },
      { name: 'b:1', outcome: 'imported' },
    ]);
    expect(failure).toMatchObject({ message: 'disk on fire' });
  });
});

describe('an interrupted export', () => {
  it('resumes with its collected blobs, and drops other names', async () => {
    await seedImage(source, 'team/app', '1.0');
    await expect(bundle(['team/app:1.0', 'team/missing:1'])).rejects.toThrow('does not exist');
    const before = source.requests.length;
    const { record } = await bundle(['team/app:1.0']);
    const blobs = source.requests.slice(before).filter(({ path: each }) => each.includes('/blobs/'));
    expect(blobs).toEqual([]);
    expect(record.items).toHaveLength(1);
  });
});

describe('an export or import that is aborted', () => {
  const stopped = { reason: 'retryable', message: expect.stringContaining('it can safely run again') };

  it('reports it, and leaves no file under the name of the bundle', async () => {
    await seedImage(source, 'team/app', '1.0');
    const stop = new AbortController();
    let copied = false;
    const progress = (done: number, total: number) => {
      if (copied && done > 0) stop.abort('SIGINT');
      copied ||= done === total;
    };
    await expect(bundle(['team/app:1.0'], { signal: stop.signal, progress })).rejects.toMatchObject(stopped);
    expect((await readdir(folder)).sort()).toEqual(['out.tar.unfinished', 'work']);
    await bundle(['team/app:1.0']);
    await expect(readBundle({ name: file, signal: stop.signal })).rejects.toMatchObject(stopped);
  });
});

describe('a bundle in parts', () => {
  const part = (number: number) => `${file}.00${number}`;
  const partSize = 64 * 1024;
  async function inParts(): Promise<number> {
    await seedImage(source, 'team/app', '1.0');
    await seedImage(source, 'team/other', '1.0');
    const { files } = await bundle(['team/app:1.0', 'team/other:1.0'], { partSize });
    expect(files.length).toBeGreaterThan(2);
    return files.length;
  }

  it('is the single file, split', async () => {
    const count = await inParts();
    for (const name of [part(1), part(2), file, `${file}.*`])
      expect((await read(name)).record.items).toHaveLength(2);
    const parts = await Promise.all(Array.from({ length: count }, (_, at) => readFile(part(at + 1))));
    await writeFile(path.join(folder, 'one.tar'), Buffer.concat(parts));
    expect((await read(path.join(folder, 'one.tar'))).record.items).toHaveLength(2);
    await bring(part(1));
    expect(inside.contents.get('mirror/team/app')?.tags.has('1.0')).toBe(true);
  });

  it('names the part that is missing, truncated or changed', async () => {
    const count = await inParts();
    const last = await readFile(part(count));
    await rm(part(count));
    await expect(read(part(1))).rejects.toThrow(`part ${part(count)} is missing`);
    await writeFile(part(count), last.subarray(0, 10));
    await expect(read(part(1))).rejects.toThrow(`${part(count)} is shorter than it was written`);
    await writeFile(part(count), last);
    await truncate(part(2), 100);
    await expect(read(part(1))).rejects.toThrow(`part ${part(2)} has 100 bytes, the first one ${partSize}`);
    await rm(part(2));
    await expect(read(part(1))).rejects.toThrow(`part ${part(2)} is missing`);
    await rename(part(1), `${file}.moved`);
    await expect(findParts(part(3))).rejects.toThrow(`part ${part(1)} is missing`);
    await expect(findParts(path.join(folder, 'no.tar'))).rejects.toThrow('There is no bundle');
  });
});

describe('an incremental bundle', () => {
  const second = () => path.join(folder, 'second.tar');

  async function twice(next: string): Promise<BundleRecord> {
    await bundle(['team/app:1.0']);
    const since = await readFile(file.replace('.tar', '.arc-bundle.json'));
    const { record, digest } = await bundle([next], { file: second(), since });
    expect(record.requires?.bundle).toBe((await read(file)).digest);
    expect(digest).not.toBe(record.requires?.bundle);
    return record;
  }

  it('omits the blobs of the earlier bundle, and does not fetch them', async () => {
    const { digest } = await seedImage(source, 'team/app', '1.0');
    const { requires, blobs } = await twice('team/app:1.0');
    const fetched = source.requests.map(({ path: each }) => each).filter((each) => each.includes('/blobs/'));
    expect(new Set(fetched).size).toBe(fetched.length);
    const old = new Set(requires?.blobs.map((blob) => blob.digest));
    expect(blobs.filter((blob) => old.has(blob.digest))).toEqual([]);
    const [layer] = requires?.blobs ?? [];
    await expect(bring(second())).rejects.toThrow(/lacks \d+ of them: sha256:.*Import that bundle first/);
    expect(layer?.at).toEqual(['team/app:1.0']);
    expect(writes()).toBe(0);
    await bring(file);
    await bring(second());
    expect(inside.contents.get('mirror/team/app')?.tags.get('1.0')).toBe(digest);
  });

  it('finds a blob that was imported under another name', async () => {
    await seedImage(source, 'team/app', '1.0');
    const before = source.contents.get('team/app');
    if (before) source.contents.set('team/copy', before);
    await twice('team/copy:1.0');
    await bring(file);
    const { items } = await bring(second());
    expect(items).toMatchObject([{ name: 'team/copy:1.0', outcome: 'imported' }]);
    expect(inside.contents.get('mirror/team/copy')?.tags.has('1.0')).toBe(true);
  });

  it.each(['team/app:1.0', 'team/copy:1.0'])(
    'is evaluated by a policy that reads blobs of the earlier bundle: %s',
    async (next) => {
      await seedImage(source, 'team/app', '1.0');
      const before = source.contents.get('team/app');
      if (before) source.contents.set('team/copy', before);
      await twice(next);
      await bring(file);
      const policy = { maxAgeMs: 1 };
      const { items } = await importBundle(await read(second()), destination, { ...options(), policy });
      // The time is looked for in the configuration, which only the first bundle has.
      expect(items).toMatchObject([
        { reason: 'denied-by-policy', message: expect.stringContaining('Denied by policy, rule maxAge: ') },
      ]);
    },
  );

  it('may build on another incremental bundle', async () => {
    await seedImage(source, 'team/app', '1.0');
    const first = await twice('team/app:1.0');
    const since = await readFile(path.join(folder, 'second.arc-bundle.json'));
    const { record } = await bundle(['team/app:1.0'], { file: path.join(folder, 'third.tar'), since });
    expect(record.requires?.blobs.length).toBe(first.requires?.blobs.length);
  });

  it('cannot build on a file that is no record', async () => {
    await expect(bundle(['team/app:1.0'], { since: Buffer.from('{}') })).rejects.toThrow(
      'The record of the earlier bundle is not a record of a bundle that this version reads: kind',
    );
  });
});
