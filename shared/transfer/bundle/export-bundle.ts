import type { KeyObject } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { bundleRecord, formatReference, type ImageName } from '#shared/domain/address';
import { type CopyOptions, copyArtifact } from '../artifact/copy-artifact.ts';
import { signBytes } from '../attest/detached-signature.ts';
import type { ContentSink, ContentSource } from '../content/content.ts';
import type { Descriptor } from '../content/manifest.ts';
import { planCopy } from '../content/plan.ts';
import { TransferError } from '../errors/transfer-error.ts';
import { type LayoutFiles, layoutFiles, markerText } from '../layout/layout-files.ts';
import { indexOf, nameOf, readIndex } from '../layout/layout-index.ts';
import { layoutSink } from '../layout/layout-sink.ts';
import { type KnownReferrers, layoutSource } from '../layout/layout-source.ts';
import type { TransferContext } from '../oci/session.ts';
import { digestOf } from '../reference/digest.ts';
import { partName } from './parts.ts';
import { blobPath } from './read-bundle.ts';
import {
  type BundleItem,
  type BundleRecord,
  broughtBy,
  bundleDigest,
  parseRecord,
  type RequiredBlob,
  recordBytes,
  recordName,
  signatureName,
} from './record.ts';
import { memoryFile, type TarFile, writeTar } from './write-tar.ts';

/** One artifact to export. */
export interface ExportItem {
  /** The reference as requested, for the record. */
  asked: string;
  platforms?: readonly string[];
  open(context: TransferContext): Promise<{ source: ContentSource; name: ImageName }>;
}

export interface ExportOptions extends CopyOptions {
  /** FILE.tar; with `partSize` (bytes) FILE.tar.001 and so on. */
  file: string;
  partSize?: number;
  /** The bytes of an earlier bundle's record: an incremental export omits the blobs that it brought. */
  since?: Buffer;
  signKey?: KeyObject;
  /** The policy as JSON, for the record. */
  policyText?: string;
  /** The time of creation for the record. */
  now: Date;
}

export interface ExportResult {
  /** The digest of the record, by which receipts and later bundles identify this bundle. */
  digest: string;
  record: BundleRecord;
  /** The tar, or its parts. */
  files: string[];
  recordFile: string;
  /** Total bytes of the blobs in the bundle. */
  bytes: number;
  warnings: string[];
}

/** An artifact collected for the bundle. */
interface Collected {
  item: BundleItem;
  manifests: Descriptor[];
  blobs: Descriptor[];
}

/**
 * Writes artifacts with their referrers into one bundle: a tar of an OCI layout and its record. The artifacts are collected in the folder
 * FILE.tar.unfinished, from which an interrupted export resumes, and which is removed at the end. Rejects with a TransferError.
 */
export async function exportBundle(
  items: readonly ExportItem[],
  options: ExportOptions,
): Promise<ExportResult> {
  const { file, partSize, since, signKey, policyText, now, signal } = options;
  const recordFile = recordFileOf(file);
  for (const each of [file, partName(file, 1), recordFile])
    if (existsSync(each))
      throw new TransferError('config', `${each} already exists: remove it, or choose another file.`);
  const earlier = since && parseRecord(since, 'The record of the earlier bundle');
  const brought = earlier === undefined ? new Map<string, RequiredBlob>() : broughtBy(earlier);
  const folder = `${file}.unfinished`;
  const warnings: string[] = [];
  const collected: Collected[] = [];
  const known: KnownReferrers = new Map();
  for (const each of items) {
    const names = collected.map(({ item }) => item.name);
    collected.push(await collect(each, { folder, names, brought, known, options, warnings }));
  }
  const files = layoutFiles(folder);
  const index = await bundleIndex(files, collected);
  const { inside, left } = splitBlobs(collected, brought);
  const total = inside.reduce((sum, { size }) => sum + size, 0);
  if (total > (options.maxBytes ?? Number.POSITIVE_INFINITY))
    throw new TransferError(
      'permanent',
      `The bundle would have ${total} bytes, more than the limit of ${options.maxBytes} (ARC_MAX_BYTES): export several bundles.`,
    );
  const record: BundleRecord = {
    kind: 'arc-bundle',
    version: 1,
    name: path.basename(file).replace(/\.tar$/, ''),
    created: now.toISOString(),
    ...(policyText !== undefined && { policy: policyText }),
    items: collected.map(({ item }) => item),
    index: { digest: digestOf(index), size: index.length },
    blobs: inside,
    ...(since &&
      earlier &&
      left.length > 0 && {
        requires: { bundle: bundleDigest(since), created: earlier.created, blobs: left },
      }),
  };
  const bytes = recordBytes(record);
  // Anything that an import would reject must be found here, not behind the air gap.
  parseRecord(bytes, 'The record of this bundle');
  const signature = signKey === undefined ? undefined : signBytes(bytes, signKey);
  let packed = 0;
  options.progress?.(0, total);
  const written = await writeTar(
    [
      memoryFile(recordName, bytes),
      ...(signature ? [memoryFile(signatureName, signature)] : []),
      memoryFile('oci-layout', Buffer.from(markerText)),
      memoryFile('index.json', index),
      ...inside.map((blob) => tarFileOf(files, blob)),
    ],
    {
      file,
      partSize,
      signal,
      onBytes(count) {
        packed += count;
        options.progress?.(Math.min(packed, total), total);
      },
    },
  );
  if (signature) await writeAtomically(`${recordFile}.sig`, signature);
  // Written last: its existence marks the bundle as complete.
  await writeAtomically(recordFile, bytes);
  await rm(folder, { recursive: true, force: true });
  return { digest: bundleDigest(bytes), record, files: written, recordFile, bytes: total, warnings };
}

/** The file of a bundle's record, beside its FILE.tar. */
export function recordFileOf(file: string): string {
  return bundleRecord(file.replace(/\.tar$/, ''));
}

/** Writes a small file atomically, by way of the file `partial`. */
export async function writeAtomically(
  file: string,
  bytes: Uint8Array,
  partial = `${file}.partial`,
): Promise<void> {
  // Unlinked first: an existing symbolic link could point anywhere.
  await rm(partial, { force: true });
  await writeFile(partial, bytes, { flag: 'wx', flush: true });
  await rename(partial, file);
}

interface Collecting {
  folder: string;
  /** The names in use. */
  names: readonly string[];
  brought: ReadonlyMap<string, RequiredBlob>;
  known: KnownReferrers;
  options: ExportOptions;
  warnings: string[];
}

async function collect(asked: ExportItem, collecting: Collecting): Promise<Collected> {
  const { folder, names, brought, known, options, warnings } = collecting;
  let from = '';
  let name: ImageName = { repository: '' };
  const copied = await copyArtifact(options, async (context) => {
    const opened = await asked.open(context);
    from = opened.source.place;
    name = importName(asked.asked, opened.name);
    if (names.includes(recordedName(asked.asked, opened.name)))
      throw new TransferError(
        'config',
        `${asked.asked} has the same name as another artifact of this bundle: export it in a bundle of its own.`,
      );
    const { tag, digest } = entryOf(name);
    const sink = layoutSink({
      folder,
      ...(tag !== undefined && { tag }),
      ...(digest !== undefined && { digest }),
    });
    return { source: opened.source, destination: withoutBrought(sink, brought) };
  });
  warnings.push(...copied.warnings);
  const { digest } = copied;
  const plan = await planCopy(layoutSource({ folder, digest }, known), options.signal);
  const manifests = plan.manifests.map(({ descriptor }) => descriptor);
  const item: BundleItem = {
    asked: asked.asked,
    ...(asked.platforms && { platforms: [...asked.platforms] }),
    from,
    name: recordedName(asked.asked, name),
    mediaType: plan.root.mediaType,
    digest,
    size: plan.root.bytes.length,
    contents: [...manifests, ...plan.blobs].map((each) => each.digest).toSorted(),
  };
  return { item, manifests, blobs: plan.blobs };
}

/** A sink that treats the blobs of the earlier bundle as present, so that they are not fetched. */
function withoutBrought(sink: ContentSink, brought: ReadonlyMap<string, unknown>): ContentSink {
  return { ...sink, hasBlob: async (blob, signal) => brought.has(blob.digest) || sink.hasBlob(blob, signal) };
}

/** The name of an artifact at the destination, which requires a repository; the default tag is `latest`, as in a registry. */
function importName(asked: string, name: ImageName): ImageName {
  if (name.repository === '')
    throw new TransferError(
      'config',
      `${asked} has only a tag, but an import needs a repository: copy it to a name such as team/app:1.0 first.`,
    );
  return name.tag === undefined && name.digest === undefined ? { ...name, tag: 'latest' } : name;
}

/** The name of a requested artifact in the record. Throws a config TransferError for a name without a repository. */
export function recordedName(asked: string, name: ImageName): string {
  return formatReference(withoutRedundantDigest(importName(asked, name)));
}

/** The name without its digest if it has a tag: the record holds the digest. */
function withoutRedundantDigest({ digest, ...name }: ImageName): ImageName {
  return name.tag === undefined && digest !== undefined ? { ...name, digest } : name;
}

/** Its entry in index.json: by full name, or by digest. */
function entryOf(name: ImageName): { tag?: string; digest?: string } {
  const { digest } = name;
  const { digest: _, ...named } = name;
  return {
    ...(name.tag !== undefined && { tag: formatReference(named) }),
    ...(digest !== undefined && { digest }),
  };
}

/** The sorted index.json of this bundle. The folder may hold more, from an earlier attempt. */
async function bundleIndex(files: LayoutFiles, collected: readonly Collected[]): Promise<Buffer> {
  const held = new Set(collected.flatMap(({ manifests }) => manifests.map(({ digest }) => digest)));
  const names = new Set(collected.map(({ item }) => item.name));
  const entries = (await readIndex(files)).filter((entry) => {
    const name = nameOf(entry);
    const isKnown = name === undefined || names.has(name) || /^sha(?:256|512)-[0-9a-f]+\.[a-z]+$/.test(name);
    return held.has(entry.digest) && isKnown;
  });
  const key = (entry: Descriptor) => `${nameOf(entry) ?? ''} ${entry.digest}`;
  return indexOf(entries.toSorted((a, b) => (key(a) < key(b) ? -1 : 1)));
}

/** All distinct blobs, sorted by digest: `inside` the bundle, which includes every manifest, and `left` out because the earlier bundle has them. */
function splitBlobs(
  collected: readonly Collected[],
  brought: ReadonlyMap<string, RequiredBlob>,
): { inside: { digest: string; size: number }[]; left: RequiredBlob[] } {
  const inside = new Map<string, { digest: string; size: number }>();
  const left = new Map<string, RequiredBlob>();
  for (const { blobs } of collected)
    for (const { digest, size } of blobs) {
      const there = brought.get(digest);
      if (there === undefined) inside.set(digest, { digest, size });
      else left.set(digest, there);
    }
  for (const { manifests } of collected)
    for (const { digest, size } of manifests) {
      left.delete(digest);
      inside.set(digest, { digest, size });
    }
  const inOrder = <Blob extends { digest: string }>(blobs: Iterable<Blob>) =>
    [...blobs].sort((a, b) => (a.digest < b.digest ? -1 : 1));
  return { inside: inOrder(inside.values()), left: inOrder(left.values()) };
}

function tarFileOf(files: LayoutFiles, { digest, size }: { digest: string; size: number }): TarFile {
  return {
    name: blobPath(digest),
    size,
    digest,
    async open() {
      const opened = await files.open(digest, 0);
      if (opened) return opened.stream;
      const lost = `${path.basename(files.blob(digest))} was removed from ${files.place}: export again`;
      throw new TransferError('retryable', `${lost}.`, { again: false });
    },
  };
}
