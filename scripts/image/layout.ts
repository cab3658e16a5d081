import { createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { pack } from 'tar-stream';
import { ArcError } from '#shared/base/errors';
import { blobContent, type Repository, type Session } from '#shared/transfer';
import type { Image } from './assemble.ts';
import { addEntry, type Entry } from './tar.ts';

export interface LayoutOptions {
  folder: string;
  /** What the image is called where it is imported: `host/path:tag`. */
  name: string | undefined;
  session: Session;
  base: Repository | undefined;
}

const marker = 'oci-layout';

/**
 * Writes an OCI image layout (image specification, image-layout.md). The folder is made, or is empty, or is a layout, which is replaced:
 * rejects with Invalid for any other.
 */
export async function writeLayout(image: Image, options: LayoutOptions, signal: AbortSignal): Promise<void> {
  const { folder, name, session, base } = options;
  await clear(folder);
  const blobs = path.join(folder, 'blobs', 'sha256');
  await mkdir(blobs, { recursive: true });
  const file = (digest: string) => path.join(folder, 'blobs', digest.replace(':', '/'));
  if (base) {
    for (const blob of image.baseLayers) {
      const content = blobContent({ source: base, blob, retry: session.retry }, signal);
      // Under its name only when it is whole.
      const partial = `${file(blob.digest)}.partial`;
      await pipeline(content, createWriteStream(partial));
      await rename(partial, file(blob.digest));
    }
  }
  for (const { descriptor, bytes } of image.own) await writeFile(file(descriptor.digest), bytes);
  const { manifest, platform } = image;
  await writeFile(file(manifest.digest), manifest.bytes);
  const entry = {
    mediaType: manifest.mediaType,
    digest: manifest.digest,
    size: manifest.bytes.length,
    platform,
    ...(name !== undefined && { annotations: namesOf(name) }),
  };
  const index = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: [entry],
  };
  await writeFile(path.join(folder, 'index.json'), JSON.stringify(index));
  await writeFile(path.join(folder, marker), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
}

/** The specification's name, and the whole one that containerd imports an image under. */
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
      `${folder} holds files that are not an OCI layout: name an empty or a new folder`,
    );
  for (const each of [marker, 'index.json', 'blobs'])
    await rm(path.join(folder, each), { recursive: true, force: true });
}

/** Packs a layout into one tar, as `ctr image import`, `docker load` and `crane push` take it. */
export async function writeArchive(layout: string, file: string, mtime: number): Promise<void> {
  const names = (await readdir(layout, { recursive: true })).sort();
  const archive = pack();
  const written = pipeline(archive, createWriteStream(file));
  const add = async () => {
    for (const name of names) await addEntry(archive, await entryOf(layout, name), mtime);
    archive.finalize();
  };
  await Promise.all([written, add().catch((caught: unknown) => archive.destroy(ArcError.from(caught)))]);
}

async function entryOf(layout: string, name: string): Promise<Entry> {
  const file = path.join(layout, name);
  const inArchive = name.split(path.sep).join('/');
  if ((await stat(file)).isDirectory()) return { type: 'directory', path: inArchive, mode: 0o755 };
  return { type: 'file', path: inArchive, mode: 0o644, content: await readFile(file) };
}
