import { readBlob } from '../content/blob-content.ts';
import type { ContentSource } from '../content/content.ts';
import type { Descriptor, Manifest } from '../content/manifest.ts';
import { TransferError } from '../errors/transfer-error.ts';
import { registrySource } from '../oci/registry-content.ts';
import type { Repository } from '../oci/repository.ts';
import type { TransferContext } from '../oci/session.ts';
import { fileURL } from '../reference/address.ts';
import { readChartArchive } from './chart-archive.ts';
import { type ChartImages, chartImages, metadataOf } from './chart-images.ts';
import { chartConfigType, chartImage, chartLayerType, chartTag } from './chart-manifest.ts';
import { type ChartLocation, downloadChart, maxArchiveBytes } from './chart-repository.ts';
import { chartSource } from './chart-source.ts';
import { selectVersion } from './select-version.ts';
import { versionOf } from './versions.ts';

/** A chart to copy. */
export interface OpenedChart {
  source: ContentSource;
  /** The tag for its version. */
  tag: string;
  /** Finds the images that the chart refers to, with `overrides` merged over its values. Rejects with a TransferError. */
  images(overrides: Readonly<Record<string, unknown>>): Promise<ChartImages>;
}

/** The layer type of Helm before 3.7. */
const oldLayerType = 'application/tar+gzip';

/** Opens a chart of a repository with an index.yaml: downloads and verifies it, and builds the image of `helm push`. Rejects with a TransferError. */
export async function openIndexedChart(
  location: ChartLocation,
  { session, signal }: TransferContext,
): Promise<OpenedChart> {
  const { chart, name } = location;
  const { tgz, provenance, version, warnings } = await downloadChart(location, session, signal);
  const what = `chart ${chart} ${version} of Endpoint "${name}"`;
  const { files, modifiedMs } = await readChartArchive(tgz, what);
  const metadata = await metadataOf(files, what);
  if (metadata.name !== chart || !isSameVersion(metadata.version, version)) {
    const found = `${metadata.name} ${metadata.version}`;
    throw new TransferError(
      'permanent',
      `The archive of ${what} contains chart ${found}: regenerate the index of the repository.`,
    );
  }
  const image = chartImage({ metadata, tgz, provenance, createdMs: modifiedMs });
  return {
    source: { ...chartSource(image, what, warnings), address: addressOf(location) },
    tag: image.tag,
    images: (overrides) => chartImages(files, overrides, what),
  };
}

/** Opens a chart in a registry, which is copied unchanged. Rejects with a TransferError. */
export async function openRegistryChart(
  location: ChartLocation,
  context: TransferContext,
): Promise<OpenedChart> {
  const { session, signal } = context;
  const { repo, chart, version } = location;
  const path = repo === undefined ? chart : `${repo}/${chart}`;
  const open = (image: string) => session.repository({ ...location, image }, 'pull');
  const tag = isVersion(version) ? chartTag(version) : await selectTag(open(path), version, path, signal);
  const repository = open(`${path}:${tag}`);
  const source = registrySource(repository);
  let root: Promise<Manifest> | undefined;
  const readRoot = () => (root ??= source.root(signal));
  return {
    source: { ...source, root: async () => requireChart(await readRoot(), source.place) },
    tag,
    async images(overrides) {
      const layer = layerOf(requireChart(await readRoot(), source.place), source.place);
      const archive = await readBlob({ source, blob: layer, retry: session.retry }, signal);
      const { files } = await readChartArchive(archive, source.place);
      return chartImages(files, overrides, `chart ${path}`);
    },
  };
}

/** `host[:port]/path/chart`, the name by which policies know a chart of an indexed repository. */
function addressOf({ remoteURL, chart, tls }: ChartLocation): string {
  const { host, pathname } = fileURL(remoteURL, chart, tls);
  return host + pathname;
}

function isVersion(text: string | undefined): text is string {
  return text !== undefined && versionOf(text) !== undefined;
}

function isSameVersion(found: string, wanted: string): boolean {
  const [a, b] = [versionOf(found), versionOf(wanted)];
  return a !== undefined && b !== undefined && a.compare(b) === 0;
}

/** The tag of the selected version. Helm writes `_` for the `+` of a version. */
async function selectTag(
  repository: Repository,
  version: string | undefined,
  path: string,
  signal: AbortSignal,
): Promise<string> {
  const tags = await repository.tags(signal);
  const listed = tags.map((tag) => ({
    version: tag.replaceAll('_', '+'),
    deprecated: false,
    removed: false,
  }));
  return chartTag(
    selectVersion(listed, version, `chart ${path} in registry ${repository.address.host}`).version,
  );
}

function requireChart(manifest: Manifest, place: string): Manifest {
  if (manifest.blobs[0]?.mediaType === chartConfigType) return manifest;
  throw new TransferError(
    'permanent',
    `The artifact of ${place} is not a Helm chart (config type: ${manifest.blobs[0]?.mediaType ?? 'none'}): use type oci for images.`,
  );
}

function layerOf({ blobs }: Manifest, place: string): Descriptor {
  const layer = blobs.find(({ mediaType }) => mediaType === chartLayerType || mediaType === oldLayerType);
  if (layer && layer.size <= maxArchiveBytes) return layer;
  throw new TransferError(
    'permanent',
    `The chart of ${place} has ${layer ? 'more than 64 MiB' : 'no archive'}.`,
  );
}
