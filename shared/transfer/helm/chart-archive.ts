import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import * as tar from 'tar-stream';
import { TransferError } from '../errors/transfer-error.ts';

/** The files that describe a chart and its dependencies, by path below the chart's folder. */
export interface ChartArchive {
  files: ReadonlyMap<string, Buffer>;
  /** The latest modification time of a file, in milliseconds since the epoch; 0 if there is none. */
  modifiedMs: number;
}

/** Helm's own limits (pkg/chart/loader): bytes of all files together, and of a single file. */
const maxUnpackedBytes = 100 * 1024 * 1024;
const maxFileBytes = 5 * 1024 * 1024;
const maxEntries = 20_000;
/** Limit for the files that are kept in memory. */
const maxKeptBytes = 24 * 1024 * 1024;

/** Chart.yaml, requirements.yaml and values.yaml of the chart and its subcharts, and packaged subcharts. */
const keptFiles = /^(?:charts\/[^/]+\/)*(?:Chart\.yaml|requirements\.yaml|values\.yaml|charts\/[^/]+\.tgz)$/;

/**
 * Reads a chart archive as `helm` does: one folder with a Chart.yaml. `what` names the chart in messages. Rejects with a permanent TransferError
 * for anything else, for links, for paths that leave the folder, and for archives beyond Helm's limits.
 */
export async function readChartArchive(tgz: Uint8Array, what: string): Promise<ChartArchive> {
  const reading = new ArchiveReader(what);
  const extract = tar.extract();
  const unpacked = Readable.from(chunksOf(tgz)).pipe(createGunzip());
  const feed = pipeBounded(unpacked, extract, reading);
  try {
    for await (const entry of extract) {
      reading.check(entry.header);
      const path = reading.pathOf(entry.header);
      const keep = path !== undefined && keptFiles.test(path);
      const chunks: Buffer[] = [];
      for await (const chunk of entry as AsyncIterable<Buffer>) if (keep) chunks.push(chunk);
      if (keep) reading.keep(path, Buffer.concat(chunks));
    }
    await feed;
  } catch (caught) {
    throw caught instanceof TransferError
      ? caught
      : reading.refused('it is not a gzipped tar archive', caught);
  } finally {
    extract.destroy();
    unpacked.destroy();
    await feed.catch(() => undefined);
  }
  if (!reading.files.has('Chart.yaml')) throw reading.refused('it has no Chart.yaml in its folder');
  return { files: reading.files, modifiedMs: reading.modifiedMs };
}

function* chunksOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
}

/** Pipes the unpacked bytes into `extract` with backpressure and a limit. */
async function pipeBounded(unpacked: Readable, extract: tar.Extract, reading: ArchiveReader): Promise<void> {
  let bytes = 0;
  try {
    for await (const chunk of unpacked as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxUnpackedBytes) throw reading.refused('it unpacks to more than 100 MiB');
      if (!extract.write(chunk)) await drained(extract);
    }
    extract.end(null);
  } catch (caught) {
    extract.destroy(caught instanceof Error ? caught : new Error(String(caught)));
    throw caught;
  }
}

function drained(extract: tar.Extract): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = (): void => {
    for (const event of ['drain', 'close'] as const) extract.off(event, done);
    resolve();
  };
  for (const event of ['drain', 'close'] as const) extract.on(event, done);
  return promise;
}

class ArchiveReader {
  readonly files = new Map<string, Buffer>();
  modifiedMs = 0;
  readonly #what: string;
  #entries = 0;
  #kept = 0;

  constructor(what: string) {
    this.#what = what;
  }

  refused(why: string, cause?: unknown): TransferError {
    return new TransferError(
      'permanent',
      `The archive of ${this.#what} is not a chart that can be moved: ${why}.`,
      {
        cause,
      },
    );
  }

  check({ name, type, size, mtime }: tar.Header): void {
    this.#entries += 1;
    if (this.#entries > maxEntries) throw this.refused(`it has more than ${maxEntries} files`);
    const shown = name.slice(0, 100);
    if (type === 'symlink' || type === 'link') throw this.refused(`"${shown}" is a link`);
    if (type !== 'file' && type !== 'directory' && type !== 'contiguous-file')
      throw this.refused(`"${shown}" is neither a file nor a folder`);
    if (size > maxFileBytes) throw this.refused(`"${shown}" has more than 5 MiB, which Helm does not load`);
    if (type === 'file') this.modifiedMs = Math.max(this.modifiedMs, mtime.getTime());
  }

  /** The path below the folder of the chart; undefined for a folder. */
  pathOf({ name, type }: tar.Header): string | undefined {
    const parts = name.replaceAll('\\', '/').split('/');
    const shown = name.slice(0, 100);
    if (parts[0] === '' || /^[a-zA-Z]:$/.test(parts[0] ?? '') || parts.includes('..') || name.includes('\0'))
      throw this.refused(`"${shown}" leaves its folder`);
    if (type === 'directory') return undefined;
    // An archive made with `tar -C chart .` has no folder.
    const [folder, ...below] = parts.filter((part) => part !== '' && part !== '.');
    if (folder === undefined || below.length === 0)
      throw this.refused(`"${shown}" is not in a folder of the chart's name`);
    if (/^[a-zA-Z]:$/.test(below[0] ?? '')) throw this.refused(`"${shown}" leaves its folder`);
    return below.join('/');
  }

  keep(path: string, content: Buffer): void {
    this.#kept += content.length;
    if (this.#kept > maxKeptBytes) throw this.refused('its values and subcharts have more than 24 MiB');
    // The last of several entries with one path wins, as when unpacking.
    this.files.set(path, content);
  }
}
