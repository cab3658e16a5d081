import { type Descriptor, type Manifest, parseManifest } from '../content/manifest.ts';
import { digestOf } from '../reference/digest.ts';
import { byKey, type ChartMetadata, goJson, metadataJson } from './chart-metadata.ts';

export const chartConfigType = 'application/vnd.cncf.helm.config.v1+json';
export const chartLayerType = 'application/vnd.cncf.helm.chart.content.v1.tar+gzip';
const provenanceType = 'application/vnd.cncf.helm.chart.provenance.v1.prov';
const annotationPrefix = 'org.opencontainers.image.';

/** A chart in the form in which Helm stores it in a registry. */
export interface ChartImage {
  manifest: Manifest;
  /** Config and layers, with their content. */
  blobs: { descriptor: Descriptor; bytes: Uint8Array }[];
  /** The tag for the chart's version. */
  tag: string;
}

export interface ChartContent {
  metadata: ChartMetadata;
  tgz: Uint8Array;
  provenance: Uint8Array | undefined;
  /** Creation time for the manifest, in milliseconds since the epoch; 0 for none. */
  createdMs: number;
}

/**
 * Builds the config, layers and manifest that `helm push` (3.8 and later) makes of a chart, byte for byte, so that equal charts are equal
 * images. Only the creation time differs: Helm uses the modification time of the archive, this function the latest time in the archive.
 */
export function chartImage({ metadata, tgz, provenance, createdMs }: ChartContent): ChartImage {
  const config = blob(chartConfigType, metadataJson(metadata));
  const layers = [
    blob(chartLayerType, tgz),
    ...(provenance === undefined ? [] : [blob(provenanceType, provenance)]),
  ].toSorted((a, b) => (a.descriptor.digest < b.descriptor.digest ? -1 : 1));
  const manifest = goJson({
    schemaVersion: 2,
    config: config.descriptor,
    layers: layers.map(({ descriptor }) => descriptor),
    annotations: annotationsOf(metadata, createdMs),
  });
  return {
    manifest: parseManifest(manifest, `of chart ${metadata.name}`),
    blobs: [config, ...layers],
    tag: chartTag(metadata.version),
  };
}

/** The tag of a version, with `_` for the `+` of build metadata, as in Helm. */
export function chartTag(version: string): string {
  return version.replaceAll('+', '_');
}

function blob(mediaType: string, bytes: Uint8Array): ChartImage['blobs'][number] {
  return { descriptor: { mediaType, digest: digestOf(bytes), size: bytes.length }, bytes };
}

/** The annotations of Chart.yaml and those that Helm derives; title and version are always Helm's. */
function annotationsOf(metadata: ChartMetadata, createdMs: number): Record<string, string> {
  const { name, version, description, home, sources = [], maintainers = [], annotations = {} } = metadata;
  const authors = maintainers
    .map((one) => `${one.name ?? ''}${one.email ? ` (${one.email})` : ''}`)
    .join(', ');
  const own: Record<string, string | undefined> = {
    description,
    title: name,
    version,
    url: home,
    created: createdMs > 0 ? `${new Date(createdMs).toISOString().slice(0, 19)}Z` : undefined,
    source: sources[0],
    authors,
  };
  const derived = Object.entries(own).flatMap(([key, value]) =>
    value === undefined || value.trim() === '' ? [] : [[`${annotationPrefix}${key}`, value] as const],
  );
  const fixed = new Set([`${annotationPrefix}title`, `${annotationPrefix}version`]);
  const given = Object.entries(annotations).filter(([key]) => !fixed.has(key));
  return Object.fromEntries([...new Map([...derived, ...given])].toSorted(byKey));
}
