import { digestOf } from '../reference/digest.ts';
import type { FileIdentity, FileUpload } from './file.ts';
import { type Descriptor, type Manifest, ociManifest, parseManifest } from './manifest.ts';

/** Under which ORAS and others keep the name of a file (OCI image specification, annotations). */
const title = 'org.opencontainers.image.title';
/** The content of a config that says nothing (OCI image specification, "Guidance for an Empty Descriptor"), and its descriptor. */
export const emptyConfig = Buffer.from('{}');
export const empty: Descriptor = {
  mediaType: 'application/vnd.oci.empty.v1+json',
  digest: digestOf(emptyConfig),
  size: emptyConfig.length,
};
/** What ORAS calls an artifact of which nobody said what it is. */
const artifactType = 'application/vnd.unknown.artifact.v1';

/** A file as the layer of an artifact. The media type of a descriptor has no parameters such as a character set. */
export function layerOf(
  { mediaType, name }: Pick<FileUpload, 'mediaType' | 'name'>,
  { size, digest }: FileIdentity,
): Descriptor {
  const [bare = mediaType] = mediaType.split(';');
  return { mediaType: bare.trim(), digest, size, annotations: { [title]: name } };
}

/** The artifact of one file: empty config, the file as its layer, its name as annotation. The same file has the same digest. */
export function manifestOf(layer: Descriptor): Manifest {
  const json = { schemaVersion: 2, mediaType: ociManifest, artifactType, config: empty, layers: [layer] };
  return parseManifest(Buffer.from(JSON.stringify(json)), 'of a file', ociManifest);
}
