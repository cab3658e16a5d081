import { createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { pack } from 'tar-stream';
import { ArcError } from '#shared/base/errors';
import { blobContent, type Descriptor, digestOf, type Repository, type Session } from '#shared/transfer';
import type { Image } from './assemble.ts';
import { addEntry, type Entry } from './tar.ts';

export interface LayoutOptions {
  folder: string;
  /** Name of the image after an import: `host/path:tag`. */
  name: string | undefined;
  session: Session;
  base: Repository | undefined;
}

const marker = 'oci-layout';
const indexType = 'application/vnd.oci.image.index.v1+json';

/**
 * Writes an OCI image layout (image specification, image-layout.md); several images get an index. The folder is created, or must be empty or an
 * existing layout, which is replaced: rejects with Invalid otherwise.
 * @returns the descriptor of the image, or of the index
 */
export async function writeLayout(
  images: readonly [Image, ...Image[]],
  options: LayoutOptions,
  signal: AbortSignal,
): Promise<Descriptor> {
  const { folder, name, session, base } = options;
  await clear(folder);
  const blobs = path.join(folder, 'blobs', 'sha256');
  await mkdir(blobs, { recursive: true });
  const file = (digest: string) => path.join(folder, 'blobs', digest.replace(':', '/'));
  for (const { baseLayers, own, manifest } of images) {
    if (base) {
      for (const blob of baseLayers) {
        const content = blobContent({ source: base, blob, retry: session.retry }, signal);
        // Renamed to its final name only when complete.
        const partial = `${file(blob.digest)}.partial`;
        await pipeline(content, createWriteStream(partial));
        await rename(partial, file(blob.digest));
      }
    }
    for (const { descriptor, bytes } of own) await writeFile(file(descriptor.digest), bytes);
    await writeFile(file(manifest.digest), manifest.bytes);
  }
  const entryOf = ({ manifest: { mediaType, digest, bytes }, platform }: Image) => {
    return { mediaType, digest, size: bytes.length, platform };
  };
  const [first, ...others] = images;
  const entries = [entryOf(first), ...others.map(entryOf)] as const;
  let root: Descriptor = entries[0];
  if (entries.length > 1) {
    const index = indexBytes(entries);
    root = { mediaType: indexType, digest: digestOf(index), size: index.length };
    await writeFile(file(root.digest), index);
  }
  const named = { ...root, ...(name !== undefined && { annotations: namesOf(name) }) };
  await writeFile(path.join(folder, 'index.json'), indexBytes([named]));
  await writeFile(path.join(folder, marker), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  return root;
}

function indexBytes(manifests: readonly object[]): Buffer {
  return Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: indexType, manifests }));
}

/** Returns the reference name of the specification, and the full name under which containerd imports an image. */
function namesOf(name: string): Record<string, string> {
  const tag = name.slice(name.lastIndexOf(':') + 1);
  return { 'io.containerd.image.name': name, 'org.opencontainers.image.ref.name': tag };
}

async function clear(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const found = await readdir(folder);
  if (found.length > 0 && !found.includes(marker))
    throw new ArcError(
      'Invalid',
      `${folder} contains files that are not an OCI layout: choose an empty or new folder`,
    );
  for (const each of [marker, 'index.json', 'blobs'])
    await rm(path.join(folder, each), { recursive: true, force: true });
}

/** Packs a layout into a tar, for `ctr image import`, `docker load` and `crane push`. */
export async function writeArchive(layout: string, file: string, mtime: number): Promise<void> {
  const names = (await readdir(layout, { recursive: true })).sort();
  const archive = pack();
  const written = pipeline(archive, createWriteStream(file));
  const add = async () => {
    for (const name of names) await addEntry(archive, await archiveEntry(layout, name), mtime);
    archive.finalize();
  };
  await Promise.all([written, add().catch((caught: unknown) => archive.destroy(ArcError.from(caught)))]);
}

async function archiveEntry(layout: string, name: string): Promise<Entry> {
  const file = path.join(layout, name);
  const inArchive = name.split(path.sep).join('/');
  if ((await stat(file)).isDirectory()) return { type: 'directory', path: inArchive, mode: 0o755 };
  return { type: 'file', path: inArchive, mode: 0o644, content: await readFile(file) };
}
