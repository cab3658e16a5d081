import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { extract, type Header, pack } from 'tar-stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fc, runs } from '#shared/base/testing';
import { seedImage, startRegistry } from '../../local/registry/index.ts';
import { signBytes } from '../attest/detached-signature.ts';
import { registrySource } from '../oci/registry-content.ts';
import { parseImageName } from '../reference/address.ts';
import { exportBundle } from './export-bundle.ts';
import { IncompleteBundle } from './parts.ts';
import { readBundle } from './read-bundle.ts';
import { parseRecord } from './record.ts';

interface File {
  header: Partial<Header> & Pick<Header, 'name'>;
  content: Buffer;
}

let folder = '';
let file = '';
let whole: Buffer;
let files: File[];
const signal = new AbortController().signal;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-hostile-'));
  file = path.join(folder, 'out.tar');
  const registry = await startRegistry({});
  await seedImage(registry, 'app', '1', { signature: false });
  const name = parseImageName('app:1');
  const open: Parameters<typeof exportBundle>[0][number]['open'] = async ({ session }) => ({
    source: registrySource(
      session.repository({ name: 's', remoteURL: registry.url, image: 'app:1' }, 'pull'),
    ),
    name,
  });
  await exportBundle([{ asked: 'app:1', open }], { signal, workDir: folder, file, now: new Date(0) });
  await registry.close();
  whole = await readFile(file);
  files = await unpack(whole);
});
afterAll(() => rm(folder, { recursive: true }));

async function unpack(tar: Buffer): Promise<File[]> {
  const found: File[] = [];
  const archive = extract();
  archive.end(tar);
  for await (const entry of archive) {
    const { name, size, mode, type } = entry.header;
    const chunks: Buffer[] = [];
    for await (const chunk of entry as AsyncIterable<Buffer>) chunks.push(chunk);
    found.push({ header: { name, size, mode, type }, content: Buffer.concat(chunks) });
  }
  return found;
}

async function repack(entries: readonly File[]): Promise<Buffer> {
  const archive = pack();
  const bytes = buffer(archive as AsyncIterable<Buffer>);
  for (const { header, content } of entries)
    if (header.type === 'file') archive.entry(header, content);
    else archive.entry({ ...header, size: 0 });
  archive.finalize();
  return bytes;
}

async function read(tar: Buffer) {
  await writeFile(file, tar);
  return readBundle({ name: file, signal });
}

const text = (name: string, content = 'x'): File => ({
  header: { name, type: 'file', mode: 0o644 },
  content: Buffer.from(content),
});
const special = (type: Header['type'], name: string, linkname = ''): File => ({
  header: { name, type, linkname },
  content: Buffer.alloc(0),
});
/** The bundle with its record changed. */
function recorded(change: (record: Record<string, unknown>) => unknown): File[] {
  const [first, ...rest] = files;
  const record: Record<string, unknown> = JSON.parse(first?.content.toString() ?? '');
  return [text('arc-bundle.json', JSON.stringify(change(record))), ...rest];
}
const blobs = () => files.slice(3);
const firstBlob = () => blobs()[0] ?? text('');

function longer({ header, content }: File): File {
  return {
    header: { ...header, size: content.length + 1 },
    content: Buffer.concat([content, Buffer.from('x')]),
  };
}

describe('a hostile bundle', () => {
  it('is refused, but a repacked bundle is accepted', async () => {
    expect((await read(await repack(files))).record.items).toHaveLength(1);
  });

  it('is refused if its index is replaced after it was verified', async () => {
    const { reader } = await read(await repack(files));
    expect(await reader.read('index.json', 100_000)).toEqual(files[2]?.content);
    const other = files.map((each) =>
      each.header.name === 'index.json'
        ? { ...each, content: Buffer.from(each.content.toString().replace('app:1', 'app:2')) }
        : each,
    );
    await writeFile(file, await repack(other));
    await expect(reader.read('index.json', 100_000)).rejects.toThrow('changed after it was verified');
  });

  const cases: [what: string, entries: () => File[], message: RegExp][] = [
    ['nothing', () => [], /has no arc-bundle\.json/],
    ['another file first', () => files.slice(1), /begins with "oci-layout"/],
    ['an image layout without a record', () => [text('index.json', '{}')], /it is not a bundle/],
    ['a path that leads out', () => [...files, text('../../etc/cron.d/x')], /its record does not list/],
    ['an absolute path', () => [...files, text('/etc/passwd')], /its record does not list/],
    ['a path with a detour', () => [...files, text('blobs/../index.json')], /its record does not list/],
    ['a file more', () => [...files, text('blobs/sha256/abc')], /its record does not list/],
    ['a second record', () => [...files, text('arc-bundle.json', '{}')], /its record does not list/],
    ['a signature at the end', () => [...files, text('arc-bundle.json.sig')], /its record does not list/],
    [
      'a symbolic link',
      () => [...files, special('symlink', 'blobs/x', '/etc/passwd')],
      /is not a file, but symlink/,
    ],
    ['a hard link', () => [...files, special('link', 'blobs/x', 'index.json')], /is not a file, but link/],
    ['a folder', () => [...files, special('directory', 'blobs/')], /is not a file, but directory/],
    [
      'a device',
      () => [...files, special('character-device', 'blobs/x')],
      /is not a file, but character-device/,
    ],
    ['a pipe', () => [special('fifo', 'arc-bundle.json'), ...files], /is not a file, but fifo/],
    ['a blob twice', () => [...files, firstBlob()], /twice/],
    ['a blob less', () => files.slice(0, -1), /which its record lists/],
    ['no index.json', () => files.filter(({ header }) => header.name !== 'index.json'), /no index\.json/],
    [
      'a longer blob',
      () => [...files.slice(0, 3), longer(firstBlob()), ...files.slice(4)],
      /but its record says/,
    ],
    [
      'a signature of a megabyte',
      () => [...files.slice(0, 1), text('arc-bundle.json.sig', 'x'.repeat(1e6))],
      /more than 4096 bytes/,
    ],
    ['a record that is no JSON', () => [text('arc-bundle.json', '{'), ...files.slice(1)], /is not JSON/],
    ['a record of another version', () => recorded((record) => ({ ...record, version: 2 })), /version/],
    ['a record with an unknown field', () => recorded((record) => ({ ...record, other: 'x' })), /other/],
    [
      'a record with a path for a digest',
      () => recorded((record) => ({ ...record, blobs: [{ digest: 'sha256:../../x', size: 1 }] })),
      /blobs\.0\.digest/,
    ],
    [
      'a record with a size below zero',
      () => recorded((record) => ({ ...record, blobs: [{ digest: `sha256:${'0'.repeat(64)}`, size: -1 }] })),
      /blobs\.0\.size/,
    ],
    [
      'a record of more than there is',
      () =>
        recorded((record) => ({ ...record, blobs: [{ digest: `sha256:${'0'.repeat(64)}`, size: 1e15 }] })),
      /shorter than it was written/,
    ],
    ['a record of no artifacts', () => recorded((record) => ({ ...record, items: [] })), /items/],
  ];
  it.each(cases)('with %s is refused', async (_, entries, message) => {
    await expect(read(await repack(entries()))).rejects.toMatchObject({
      reason: 'permanent',
      message: expect.stringMatching(message),
    });
  });

  it('with a sparse file is refused', async () => {
    const tar = await repack([...files, text('blobs/x')]);
    const at = tar.indexOf('blobs/x\0');
    // The kind of GNU tar's sparse files; the sum of the header follows it.
    tar[at + 156] = 'S'.charCodeAt(0);
    const header = tar.subarray(at, at + 512);
    header.fill(' ', 148, 156);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    await expect(read(tar)).rejects.toThrow('is not a file, but of an unknown kind');
  });

  it('that is truncated is refused at any length', async () => {
    // What follows the last file is padding.
    const [last] = blobs().slice(-1);
    const end = whole.lastIndexOf(last?.content ?? '') + (last?.content.length ?? 0);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: end - 1 }), async (length) => {
        await expect(read(whole.subarray(0, length))).rejects.toBeInstanceOf(IncompleteBundle);
      }),
      { numRuns: runs(40) },
    );
  });

  it('that is signed is refused with any changed byte, or is the same bundle', async () => {
    const { privateKey, publicKey: key } = generateKeyPairSync('ed25519');
    const [record = text('')] = files;
    const signature = text('arc-bundle.json.sig', signBytes(record.content, privateKey).toString());
    const signed = await repack([record, signature, ...files.slice(1)]);
    await writeFile(file, signed);
    const { digest } = await readBundle({ name: file, keys: [key], signal });
    await fc.assert(
      fc.asyncProperty(fc.nat(signed.length - 1), fc.integer({ min: 1, max: 255 }), async (at, by) => {
        const tar = Buffer.from(signed);
        tar[at] = (tar[at] ?? 0) ^ by;
        await writeFile(file, tar);
        const found = await readBundle({ name: file, keys: [key], signal }).catch(
          (caught: unknown) => caught,
        );
        // Padding, and fields of a header that nobody reads, may change.
        expect(found).toMatchObject(found instanceof Error ? { reason: 'permanent' } : { digest });
      }),
      { numRuns: runs(60) },
    );
  });

  it('has any record either read or refused', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (value) => {
        expect(() => parseRecord(Buffer.from(value), 'it')).toThrow('it is not');
      }),
    );
  });
});
