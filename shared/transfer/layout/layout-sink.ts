import { buffer } from 'node:stream/consumers';
import { writtenTag } from '#shared/domain/address';
import type { ContentSink } from '../content/content.ts';
import {
  type Descriptor,
  isManifestType,
  type Manifest,
  maxManifestBytes,
  ociIndex,
  parseManifest,
} from '../content/manifest.ts';
import { referrerList } from '../content/referrer-list.ts';
import { digestTag, isDigest } from '../reference/digest.ts';
import { type LayoutFiles, layoutFiles } from './layout-files.ts';
import { namedEntry, readIndex, withEntry, writeIndex } from './layout-index.ts';
import type { LayoutName } from './layout-source.ts';

/**
 * Returns an OCI image layout as the destination of a copy; the folder is created. Files are written atomically and index.json last, so a copy
 * may be interrupted at any time and repeated. Referrers are listed in index.json without a name, as by oras, and in an index named by the
 * fallback tag, as by regctl. A folder supports one copy at a time. Without tag and digest the artifact is named `latest`.
 */
export function layoutSink({ folder, digest, ...name }: LayoutName): ContentSink {
  const tag = writtenTag({ ...name, digest });
  const files = layoutFiles(folder);
  let prepared: Promise<void> | undefined;
  // Serialises updates of index.json.
  let turn: Promise<unknown> = Promise.resolve();
  const ready = () => {
    prepared ??= files.prepare();
    return prepared;
  };
  function serialised(act: () => Promise<void>): Promise<void> {
    const mine = turn.then(act);
    turn = mine.catch(() => undefined);
    return mine;
  }

  async function digestUnder(reference: string): Promise<string | undefined> {
    const wanted = isDigest(reference) ? reference : namedEntry(await readIndex(files), reference)?.digest;
    return wanted !== undefined && (await isComplete(files, wanted)) ? wanted : undefined;
  }

  return {
    place: files.place,
    ...(tag !== undefined && { tag }),
    ...(digest !== undefined && { digest }),
    head: digestUnder,
    async manifest(reference) {
      const wanted = await digestUnder(reference);
      return wanted === undefined ? undefined : readManifest(files, wanted);
    },
    hasBlob: async ({ digest: wanted, size }) => (await files.size(wanted)) === size,
    async upload(blob, body, signal) {
      await ready();
      await files.write(files.blob(blob.digest), body(), signal);
      return false;
    },
    async putManifest(reference, manifest, signal) {
      await ready();
      if (!(await isComplete(files, manifest.digest)))
        await files.write(files.blob(manifest.digest), manifest.bytes, signal);
      const entry = isDigest(reference) ? undefined : reference;
      if (entry !== undefined || (tag === undefined && digest === manifest.digest))
        await serialised(async () =>
          writeIndex(files, folder, withEntry(await readIndex(files), manifest, entry), signal),
        );
      return { subjectSeen: false, digest: manifest.digest };
    },
    ensureReferrers: (subject, referrers, signal) =>
      serialised(async () => {
        const before = await readIndex(files);
        const unnamed = referrers.reduce(
          (entries, manifest) => withEntry(entries, manifest, undefined),
          before,
        );
        const name = digestTag(subject);
        const entry = namedEntry(before, name);
        const known = entry && (await readManifest(files, entry.digest));
        // Something else of that name is not ours to replace, and oras' way has all of them.
        const isList = known === undefined || known.mediaType === ociIndex;
        const list = referrerList(subject, known?.children ?? [], referrers);
        if (isList) await files.write(files.blob(list.digest), list.bytes, signal);
        await writeIndex(files, folder, isList ? withEntry(unnamed, list, name) : unnamed, signal);
      }),
  };
}

/** True if a manifest exists with everything it lists: other tools write layouts with parts of an index. */
async function isComplete(files: LayoutFiles, digest: string): Promise<boolean> {
  const manifest = await readManifest(files, digest);
  if (manifest === undefined) return false;
  const blobs = await Promise.all(manifest.blobs.map((blob) => files.size(blob.digest)));
  if (blobs.some((each) => each === undefined)) return false;
  for (const child of manifest.children) if (!(await hasChild(files, child))) return false;
  return true;
}

/** Undefined if the manifest is missing, or its digest differs. */
async function readManifest(files: LayoutFiles, digest: string): Promise<Manifest | undefined> {
  const size = await files.size(digest);
  if (size === undefined || size > maxManifestBytes) return undefined;
  const opened = await files.open(digest, 0);
  if (opened === undefined) return undefined;
  const bytes = await buffer(opened.stream);
  const manifest = parseManifest(bytes, `${digest} of ${files.place}`, undefined, digest);
  return manifest.digest === digest ? manifest : undefined;
}

/** Build caches list layers in an index; those are blobs. */
async function hasChild(files: LayoutFiles, { digest, mediaType }: Descriptor): Promise<boolean> {
  return isManifestType(mediaType) ? isComplete(files, digest) : (await files.size(digest)) !== undefined;
}
