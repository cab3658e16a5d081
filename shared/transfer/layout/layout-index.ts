import path from 'node:path';
import type { Descriptor, Manifest } from '../content/manifest.ts';
import { maxManifestBytes, ociIndex, parseManifest } from '../content/manifest.ts';
import { sharedTagKind } from '../reference/digest.ts';
import { checkMarker, type LayoutFiles, type LayoutReader, marker } from './layout-files.ts';

/** The annotation with the name of an entry in index.json (image specification, annotations.md). */
const nameAnnotation = 'org.opencontainers.image.ref.name';

/** The annotation by which cosign finds an image and its signatures in a layout (`cosign verify --local-image`). */
const kindAnnotation = 'kind';
const cosignKinds: Readonly<Record<string, string>> = { sig: 'sigs', att: 'atts' };

/** The entries of index.json; empty if it does not exist yet. Rejects if the folder is not a layout. */
export async function readIndex(files: LayoutReader): Promise<Descriptor[]> {
  const version = await files.read(marker, 1024);
  const bytes = await files.read('index.json', maxManifestBytes);
  if (version !== undefined) checkMarker(version, files.place);
  if (bytes === undefined) return [];
  return parseManifest(bytes, `index.json of ${files.place}`, ociIndex).children;
}

/** The entry with this name; the last one if there are several, as in skopeo and crane. */
export function namedEntry(entries: readonly Descriptor[], name: string): Descriptor | undefined {
  return entries.findLast((entry) => nameOf(entry) === name);
}

export function nameOf({ annotations }: Descriptor): string | undefined {
  return annotations?.[nameAnnotation];
}

/** Adds `manifest` to the entries: under `name`, which is removed from other entries, or without a name. */
export function withEntry(
  entries: readonly Descriptor[],
  manifest: Manifest,
  name: string | undefined,
): Descriptor[] {
  const { annotations: _, ...descriptor } = manifest.descriptor;
  const entry =
    name === undefined ? descriptor : { ...descriptor, annotations: annotationsOf(name, manifest) };
  const isReplaced = (one: Descriptor) =>
    name === undefined
      ? one.digest === manifest.digest && nameOf(one) === undefined
      : nameOf(one) === name || (one.digest === manifest.digest && nameOf(one) === undefined);
  return [...entries.filter((one) => !isReplaced(one)), entry];
}

function annotationsOf(name: string, { mediaType }: Manifest): Record<string, string> {
  const own = /index|manifest\.list/.test(mediaType) ? 'imageIndex' : 'image';
  const kind = sharedTagKind(name) === undefined ? own : cosignKinds[name.split('.')[1] ?? ''];
  return {
    [nameAnnotation]: name,
    ...(kind !== undefined && { [kindAnnotation]: `dev.cosignproject.cosign/${kind}` }),
  };
}

export async function writeIndex(
  files: LayoutFiles,
  folder: string,
  manifests: readonly Descriptor[],
  signal: AbortSignal,
): Promise<void> {
  await files.write(path.join(folder, 'index.json'), indexOf(manifests), signal);
}

/** Serialises index.json. */
export function indexOf(manifests: readonly Descriptor[]): Buffer {
  return Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: ociIndex, manifests }));
}
