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

/** An artifact in a layout. Without a name and a digest it is the only one there. */
export interface LayoutName {
  folder: string;
  /** The annotation `org.opencontainers.image.ref.name` of its entry in index.json. */
  tag?: string;
  digest?: string;
}

/** Names that are shown where the wanted one is not there. */
const shownNames = 10;

/** The artifact of an OCI image layout as a source of a copy. What it holds is verified as what a registry sends is. */
export function layoutSource({ folder, ...name }: LayoutName, known?: KnownReferrers): ContentSource {
  return sourceIn(layoutFiles(folder), name, known);
}

/** What was found to be a referrer, or none, by digest: for the artifacts of one layout, so that its manifests are not read for each of them. */
export type KnownReferrers = Map<string, Manifest | undefined>;

/** The same for a layout that is read from anything. */
export function sourceIn(
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
  // Of all subjects, as of a registry.
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
        `${place} lists ${wanted.digest} and does not hold it: write it again.`,
      );
    },
    manifest: (wanted, signal, mediaType) => readManifest(files, wanted, mediaType, signal),
    async openBlob(wanted, offset, signal) {
      signal.throwIfAborted();
      const opened = await files.open(wanted, offset);
      if (opened === undefined)
        throw new TransferError('permanent', `${place} has no blob ${wanted}: write it again.`);
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
        if (entry) attached.push({ manifest: await held(entry, subject, signal), tag });
      }
      return [...[...listed.values()].map((manifest): Referrer => ({ manifest })), ...attached];
    },
  };

  /** regctl keeps the list of referrers in a layout under the tag that registries without the API have for it. */
  async function listedByTag(
    all: readonly Descriptor[],
    subject: Manifest,
    warn: (text: string) => void,
    signal: AbortSignal,
  ): Promise<Manifest[]> {
    const entry = namedEntry(all, digestTag(subject.digest));
    if (entry === undefined || entry.digest === subject.digest) return [];
    const list = await held(entry, subject, signal);
    if (list.mediaType !== ociIndex) {
      warn(
        `${entry.digest} in ${place} should list what refers to ${subject.digest} and is no list; not copied`,
      );
      return [];
    }
    const found: Manifest[] = [];
    for (const child of list.children) {
      bounds.next();
      const manifest = await held(child, subject, signal);
      bounds.add(manifest);
      if (manifest.subject === subject.digest) found.push(manifest);
      else
        warn(
          `${child.digest} is listed as a referrer of ${subject.digest} but does not refer to it; not copied`,
        );
    }
    return found;
  }

  async function held(
    { digest: wanted, mediaType }: Descriptor,
    subject: Manifest,
    signal: AbortSignal,
  ): Promise<Manifest> {
    const manifest = await readManifest(files, wanted, mediaType, signal);
    if (manifest) return manifest;
    const text = `${place} lists ${wanted} for ${subject.digest} (a signature, SBOM or attestation) and does not hold it, so it would be lost: write it again.`;
    throw new TransferError('permanent', text);
  }

  async function entryFor(all: readonly Descriptor[]): Promise<{ digest: string; mediaType?: string }> {
    if (digest !== undefined) return { digest };
    const images = all.filter(isImage);
    const found = tag === undefined ? (images.length === 1 ? images[0] : undefined) : namedEntry(all, tag);
    if (found) return found;
    const names = images.map((entry) => nameOf(entry) ?? entry.digest);
    const shown = names.length === 0 ? 'nothing' : names.slice(0, shownNames).join(', ');
    const more = names.length > shownNames ? `, and ${names.length - shownNames} more` : '';
    const what = tag === undefined ? 'not exactly one artifact' : `no artifact named "${tag}"`;
    throw new TransferError('permanent', `${place} has ${what}; it has ${shown}${more}.`);
  }
}

/** False for what refers to another artifact, or lists what does. */
function isImage(entry: Descriptor): boolean {
  const name = nameOf(entry);
  return name === undefined ? entry.artifactType === undefined : sharedTagKind(name) === undefined;
}

/** The manifests of index.json that refer to another one, by that one's digest. */
async function bySubject(
  files: LayoutReader,
  entries: readonly Descriptor[],
  { known, warn, signal }: { known: KnownReferrers; warn: (text: string) => void; signal: AbortSignal },
): Promise<Map<string, Manifest[]>> {
  const found = new Map<string, Manifest[]>();
  for (const { digest, mediaType } of new Map(entries.map((entry) => [entry.digest, entry])).values()) {
    if (!known.has(digest)) {
      const manifest = await readManifest(files, digest, mediaType, signal);
      if (manifest === undefined) {
        // It may come, so it is not remembered.
        if (isManifestType(mediaType))
          warn(
            `${files.place} lists ${digest} and does not hold it: if it is a signature or an SBOM, it is not copied`,
          );
        continue;
      }
      known.set(digest, manifest.subject === undefined ? undefined : manifest);
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
  const text = `${files.place} holds the wrong bytes: manifest ${digest} has digest ${manifest.digest}. Do not trust it; write it again.`;
  throw new TransferError('permanent', text);
}
