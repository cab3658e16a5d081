import { isoSeconds } from '#shared/base/meta';
import { type Descriptor, digestOf, type Manifest, parseManifest } from '#shared/transfer';
import type { Layer } from './layer.ts';
import { programFolder } from './programs.ts';
import { nodePath } from './runtime.ts';

/** The base image. */
export interface Base {
  /** The reference as given, without a digest. */
  name: string;
  digest: string;
  layers: Descriptor[];
  /** Its image configuration (OCI image specification, config.md). */
  config: ImageConfig;
}

/** The inherited or changed fields of an image configuration. */
export interface ImageConfig {
  architecture: string;
  os: string;
  variant?: string;
  config?: { Env?: string[]; Labels?: Record<string, string> };
  rootfs: { diff_ids: string[] };
  history?: object[];
}

export interface Assembly {
  base: Base | undefined;
  architecture: string;
  layers: readonly Layer[];
  /** Creation time of the image, in seconds since 1970. */
  created: number;
  version: string;
}

/** An image to store: its manifest, the new blobs, and the unchanged layers of the base. */
export interface Image {
  manifest: Manifest;
  /** Layers and configuration that are stored with the image. */
  own: { descriptor: Descriptor; bytes: Buffer }[];
  baseLayers: Descriptor[];
  platform: { architecture: string; os: string; variant?: string };
}

const user = '65532:65532';
const searchPath = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Assembles the image from layers and base. Pure: the same input gives the same digest. */
export function assembleImage({ base, architecture, layers, created, version }: Assembly): Image {
  const time = isoSeconds(created * 1000);
  const { variant } = base?.config ?? {};
  const platform = { architecture, os: 'linux', ...(variant !== undefined && { variant }) };
  const origin: Record<string, string> = base
    ? {
        'org.opencontainers.image.base.name': base.name,
        'org.opencontainers.image.base.digest': base.digest,
      }
    : {};
  const labels = {
    ...base?.config.config?.Labels,
    'org.opencontainers.image.title': 'artifact-conduit',
    'org.opencontainers.image.description': 'The functions and programs of ARC, the Artifact Conduit',
    'org.opencontainers.image.licenses': 'Apache-2.0',
    'org.opencontainers.image.version': version,
    ...origin,
  };
  const config = jsonBlob('application/vnd.oci.image.config.v1+json', {
    created: time,
    ...platform,
    config: {
      User: user,
      Env: [...environmentOf(base), ...nodeEnvironment],
      Entrypoint: [nodePath],
      WorkingDir: programFolder,
      Labels: labels,
    },
    rootfs: {
      type: 'layers',
      diff_ids: [...(base?.config.rootfs.diff_ids ?? []), ...layers.map(({ diffId }) => diffId)],
    },
    history: [
      ...(base?.config.history ?? []),
      ...layers.map(({ createdBy }) => ({ created: time, created_by: createdBy })),
    ],
  });
  const baseLayers = (base?.layers ?? []).map(asOci);
  const manifest = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: config.descriptor,
    layers: [...baseLayers, ...layers.map(({ descriptor }) => descriptor)],
    ...(base && { annotations: origin }),
  };
  return {
    manifest: parseManifest(Buffer.from(JSON.stringify(manifest)), 'of the new image'),
    own: [...layers.map(({ descriptor, bytes }) => ({ descriptor, bytes })), config],
    baseLayers,
    platform,
  };
}

/** By default, V8 fails as soon as the heap takes half of the memory limit of a container, whatever is free. */
const nodeEnvironment = ['NODE_ENV=production', 'NODE_OPTIONS=--max-old-space-size-percentage=75'];

/** Returns the base's environment variables, with our Node in PATH. */
function environmentOf(base: Base | undefined): string[] {
  const inherited = (base?.config.config?.Env ?? []).filter((line) => !/^NODE_(?:ENV|OPTIONS)=/.test(line));
  const hasPath = inherited.some((line) => /^PATH=(?:.*:)?\/usr\/local\/bin(?::|$)/.test(line));
  return hasPath ? inherited : [searchPath, ...inherited.filter((line) => !line.startsWith('PATH='))];
}

/** Docker and OCI use different media types for the same bytes; a manifest must not mix them. */
function asOci({ mediaType, digest, size }: Descriptor): Descriptor {
  const renamed = mediaType.replace(
    /^application\/vnd\.docker\.image\.rootfs\.diff\.tar(?:\.(gzip|zstd))?$/,
    (_, compression?: string) =>
      `application/vnd.oci.image.layer.v1.tar${compression === undefined ? '' : `+${compression}`}`,
  );
  return { mediaType: renamed, digest, size };
}

function jsonBlob(mediaType: string, value: object): { descriptor: Descriptor; bytes: Buffer } {
  const bytes = Buffer.from(JSON.stringify(value));
  return { descriptor: { mediaType, digest: digestOf(bytes), size: bytes.length }, bytes };
}
