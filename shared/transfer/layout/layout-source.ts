import { buffer } from 'node:stream/consumers';
import type { ContentSource, Referrer } from '../content/content.ts';
import {
  type Descriptor,
  isManifestType,
  type Manifest,
  maxManifestBytes,
  ociIndex,
  parseManifest,
} from '../content/manifest.ts';
import { createManifestBounds } from '../content/manifest-bounds.ts';
import { TransferError } from '../errors/transfer-error.ts';
import { attachedTags, digestTag, sharedTagKind } from '../reference/digest.ts';
import { type LayoutReader, layoutFiles } from './layout-files.ts';
import { namedEntry, nameOf, readIndex } from './layout-index.ts';

/** An artifact in a layout; without name and digest, the only one. */
export interface LayoutName {
  folder: string;
  /** The annotation `org.opencontainers.image.ref.name` of its entry in index.json. */
  tag?: string;
  digest?: string;
}

/** Names to list in the message about a missing one. */
const maxShownNames = 10;

/** Returns an artifact in an OCI image layout as a source of a copy. Content is verified like that of a registry. */
export function layoutSource({ folder, ...name }: LayoutName, known?: KnownReferrers): ContentSource {
  return layoutReaderSource(layoutFiles(folder), name, known);
}

/** Cache of referrers and lists of them by digest (undefined for other manifests), shared by the artifacts of one layout. */
export type KnownReferrers = Map<string, Manifest | undefined>;

/** Returns an artifact of any layout as a source of a copy. */
export function layoutReaderSource(
  files: LayoutReader,
  { tag, digest }: Omit<LayoutName, 'folder'>,
  known: KnownReferrers = new Map(),
): ContentSource {
  const { place } = files;
  let entries: Promise<Descriptor[]> | undefined;
  const index = () => {
    entries ??= readIndex(files);
    return entries;
  };
  // Shared by all subjects, as for a registry.
  const bounds = createManifestBounds(place);
  let subjects: Promise<Map<string, Manifest[]>> | undefined;

  return {
    place,
    async root(signal) {
      const wanted = await entryFor(await index());
      const found = await readManifest(files, wanted.digest, wanted.mediaType, signal);
      if (found) return found;
      throw new TransferError(
        'permanent',
        `${place} lists ${wanted.digest} but does not contain it: write the layout again.`,
      );
    },
    manifest: (wanted, signal, mediaType) => readManifest(files, wanted, mediaType, signal),
    async openBlob(wanted, offset, signal) {
      signal.throwIfAborted();
      const opened = await files.open(wanted, offset);
      if (opened === undefined)
        throw new TransferError('permanent', `${place} has no blob ${wanted}: write the layout again.`);
      return { start: Math.min(offset, opened.size), ...opened };
    },
    async findReferrers(subject, warn, signal) {
      const all = await index();
      subjects ??= bySubject(files, all, { known, warn, signal });
      const listed = new Map(
        ((await subjects).get(subject.digest) ?? []).map((manifest) => [manifest.digest, manifest]),
      );
      for (const manifest of await listedByTag(all, subject, warn, signal))
        listed.set(manifest.digest, manifest);
      const attached: Referrer[] = [];
      for (const tag of attachedTags(subject.digest)) {
        const entry = namedEntry(all, tag);
        if (entry) attached.push({ manifest: await requireManifest(entry, subject, signal), tag });
      }
      return [...[...listed.values()].map((manifest): Referrer => ({ manifest })), ...attached];
    },
  };

  /** regctl and ARC store the list of referrers in a layout under the fallback tag. */
  async function listedByTag(
    all: readonly Descriptor[],
    subject: Manifest,
    warn: (text: string) => void,
    signal: AbortSignal,
  ): Promise<Manifest[]> {
    const entry = namedEntry(all, digestTag(subject.digest));
    if (entry === undefined || entry.digest === subject.digest) return [];
    const list = await requireManifest(entry, subject, signal);
    if (list.mediaType !== ociIndex) {
      warn(
        `${entry.digest} in ${place} should list the referrers of ${subject.digest}, but is no index; not copied`,
      );
      return [];
    }
    const found: Manifest[] = [];
    for (const child of list.children) {
      bounds.next();
      const manifest = await requireManifest(child, subject, signal);
      bounds.add(manifest);
      if (manifest.subject === subject.digest) found.push(manifest);
      else
        warn(
          `${child.digest} is listed as a referrer of ${subject.digest} but does not refer to it; not copied`,
        );
    }
    return found;
  }

  async function requireManifest(
    { digest: wanted, mediaType }: Descriptor,
    subject: Manifest,
    signal: AbortSignal,
  ): Promise<Manifest> {
    const manifest = known.get(wanted) ?? (await readManifest(files, wanted, mediaType, signal));
    if (manifest) return manifest;
    const text = `${place} lists ${wanted} for ${subject.digest} (a signature, SBOM or attestation) but does not contain it, so it would be lost: write the layout again.`;
    throw new TransferError('permanent', text);
  }

  async function entryFor(all: readonly Descriptor[]): Promise<{ digest: string; mediaType?: string }> {
    if (digest !== undefined) return { digest };
    const images = all.filter(isImage);
    const found = tag === undefined ? (images.length === 1 ? images[0] : undefined) : namedEntry(all, tag);
    if (found) return found;
    const names = images.map((entry) => nameOf(entry) ?? entry.digest);
    const shown = names.length === 0 ? 'nothing' : names.slice(0, maxShownNames).join(', ');
    const more = names.length > maxShownNames ? `, and ${names.length - maxShownNames} more` : '';
    const what = tag === undefined ? 'not exactly one artifact' : `no artifact named "${tag}"`;
    throw new TransferError('permanent', `${place} has ${what}; it has ${shown}${more}.`);
  }
}

/** False for referrers and for lists of referrers. */
function isImage(entry: Descriptor): boolean {
  const name = nameOf(entry);
  return name === undefined ? entry.artifactType === undefined : sharedTagKind(name) === undefined;
}

/** Groups the referrers in index.json by subject. */
async function bySubject(
  files: LayoutReader,
  entries: readonly Descriptor[],
  { known, warn, signal }: { known: KnownReferrers; warn: (text: string) => void; signal: AbortSignal },
): Promise<Map<string, Manifest[]>> {
  const found = new Map<string, Manifest[]>();
  for (const entry of new Map(entries.map((one) => [one.digest, one])).values()) {
    const { digest, mediaType } = entry;
    if (!known.has(digest)) {
      const manifest = await readManifest(files, digest, mediaType, signal);
      if (manifest === undefined) {
        // Not cached, because it may still be written.
        if (isManifestType(mediaType))
          warn(
            `${files.place} lists ${digest} but does not contain it: if it is a signature or an SBOM, it is not copied`,
          );
        continue;
      }
      const isList = sharedTagKind(nameOf(entry) ?? '') === 'referrers';
      known.set(digest, isList || manifest.subject !== undefined ? manifest : undefined);
    }
    const referrer = known.get(digest);
    if (referrer?.subject === undefined) continue;
    const others = found.get(referrer.subject);
    if (others === undefined) found.set(referrer.subject, [referrer]);
    else others.push(referrer);
  }
  return found;
}

async function readManifest(
  files: LayoutReader,
  digest: string,
  mediaType: string | undefined,
  signal: AbortSignal,
): Promise<Manifest | undefined> {
  signal.throwIfAborted();
  const size = await files.size(digest);
  if (size === undefined || (mediaType !== undefined && !isManifestType(mediaType))) return undefined;
  const what = `${digest} of ${files.place}`;
  if (size > maxManifestBytes)
    throw new TransferError('permanent', `The manifest ${what} cannot be copied: it is larger than 4 MiB.`);
  const opened = await files.open(digest, 0);
  if (opened === undefined) return undefined;
  const manifest = parseManifest(await buffer(opened.stream), what, mediaType, digest);
  if (manifest.digest === digest) return manifest;
  const text = `${files.place} holds the wrong bytes: manifest ${digest} has digest ${manifest.digest}. Do not trust it; write the layout again.`;
  throw new TransferError('permanent', text);
}
