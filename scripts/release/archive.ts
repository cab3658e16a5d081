import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { tarOf } from '../image/tar.ts';

/** A file of an archive; the default `mode` is 0o644. */
export interface ArchivedFile {
  name: string;
  content: Buffer;
  mode?: number;
}

const compress = promisify(gzip);
const operatingSystem = 9;
const unknownSystem = 255;

/** Returns a reproducible .tar.gz: with the same Node, its bytes depend only on the files and `time` (seconds). */
export async function packFiles(files: readonly ArchivedFile[], time: number): Promise<Buffer> {
  const entries = files.map(({ name, content, mode = 0o644 }) => ({
    ...({ type: 'file', path: name, mode, content } as const),
  }));
  const bytes = await compress(await tarOf(entries, time), { level: 9 });
  bytes[operatingSystem] = unknownSystem;
  return bytes;
}
