import { gzipSync } from 'node:zlib';
import * as tar from 'tar-stream';
import type { Registry } from '#shared/local';
import { readChartArchive } from '../helm/chart-archive.ts';
import { metadataOf } from '../helm/chart-images.ts';
import { type ChartImage, chartImage } from '../helm/chart-manifest.ts';

/** A file in an archive: its content, or the header of a special file. */
export type ChartFile = string | Buffer | Partial<tar.Header>;

export interface PackedChart {
  /** The folder in the archive. */
  folder?: string;
  /** The time of each file. */
  mtime?: Date;
}

/** Packs files (by their paths below the chart's folder) as `helm package` does. */
export async function packChart(
  files: Readonly<Record<string, ChartFile>>,
  { folder = 'demo', mtime = new Date('2024-05-06T07:08:09Z') }: PackedChart = {},
): Promise<Buffer> {
  const pack = tar.pack();
  for (const [path, file] of Object.entries(files)) {
    const name = folder === '' ? path : `${folder}/${path}`;
    if (typeof file === 'string' || Buffer.isBuffer(file)) pack.entry({ name, mtime }, file);
    else pack.entry({ name, mtime, ...file });
  }
  pack.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of pack as AsyncIterable<Buffer>) chunks.push(chunk);
  // The gzip header would contain the time of packing.
  return gzipSync(Buffer.concat(chunks));
}

/** A Chart.yaml of `name` and `version`, followed by `more`. */
export function chartYaml(name: string, version: string, more = ''): string {
  return `apiVersion: v2\nname: ${name}\nversion: ${version}\n${more}`;
}

/** The image of an archive, as a copy makes it. */
export async function imageOfChart(tgz: Buffer, provenance?: Buffer): Promise<ChartImage> {
  const { files, modifiedMs } = await readChartArchive(tgz, 'the chart');
  return chartImage({
    metadata: await metadataOf(files, 'the chart'),
    tgz,
    provenance,
    createdMs: modifiedMs,
  });
}

/** Pushes a chart to a registry in Helm's format. */
export async function seedChart({ contents }: Registry, repository: string, tgz: Buffer): Promise<void> {
  const { manifest, blobs, tag } = await imageOfChart(tgz);
  const { digest, mediaType, bytes } = manifest;
  const listed = blobs.map(({ descriptor }) => descriptor.digest);
  contents.set(repository, {
    blobs: new Map(blobs.map((blob) => [blob.descriptor.digest, Buffer.from(blob.bytes)])),
    manifests: new Map([[digest, { bytes, mediaType, digest, blobs: listed, children: [] }]]),
    tags: new Map([[tag, digest]]),
  });
}
