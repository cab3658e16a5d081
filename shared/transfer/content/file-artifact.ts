import { digestOf } from '../reference/digest.ts';
import type { FileIdentity, FileUpload } from './file.ts';
import { type Descriptor, type Manifest, ociManifest, parseManifest } from './manifest.ts';

/** The annotation in which ORAS and others store the name of a file (OCI image specification, annotations). */
const title = 'org.opencontainers.image.title';
/** The empty config (OCI image specification, "Guidance for an Empty Descriptor") and its descriptor. */
export const emptyConfig = Buffer.from('{}');
export const empty: Descriptor = {
  mediaType: 'application/vnd.oci.empty.v1+json',
  digest: digestOf(emptyConfig),
  size: emptyConfig.length,
};
/** The artifact type that ORAS uses by default. */
const artifactType = 'application/vnd.unknown.artifact.v1';

/** Returns the layer descriptor of a file. The media type of a descriptor has no parameters such as a charset. */
export function layerOf(
  { mediaType, name }: Pick<FileUpload, 'mediaType' | 'name'>,
  { size, digest }: FileIdentity,
): Descriptor {
  const [bare = mediaType] = mediaType.split(';');
  return { mediaType: bare.trim(), digest, size, annotations: { [title]: name } };
}

/** Returns the artifact of one file: empty config, the file as its layer, its name as annotation. Deterministic. */
export function manifestOf(layer: Descriptor): Manifest {
  const json = { schemaVersion: 2, mediaType: ociManifest, artifactType, config: empty, layers: [layer] };
  return parseManifest(Buffer.from(JSON.stringify(json)), 'of a file', ociManifest);
}
