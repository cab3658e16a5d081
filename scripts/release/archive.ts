import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { tarOf } from '../image/tar.ts';

/** A file of an archive; `mode` is 0o644 unless given. */
export interface ArchivedFile {
  name: string;
  content: Buffer;
  mode?: number;
}

const compress = promisify(gzip);
const operatingSystem = 9;
const unknownSystem = 255;

/** A .tar.gz whose bytes depend on nothing but the files and `time` (seconds), with the same Node. */
export async function packFiles(files: readonly ArchivedFile[], time: number): Promise<Buffer> {
  const entries = files.map(({ name, content, mode = 0o644 }) => ({
    ...({ type: 'file', path: name, mode, content } as const),
  }));
  const bytes = await compress(await tarOf(entries, time), { level: 9 });
  bytes[operatingSystem] = unknownSystem;
  return bytes;
}
