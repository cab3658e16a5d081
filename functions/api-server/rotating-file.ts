import { type FileHandle, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { ArcError } from '#shared/errors';

export interface RotatingFileOptions {
  file: string;
  /** A file that would become longer is put aside as `<name>-<time><extension>`, and a new one is begun. */
  maxBytes: number;
  /** Files put aside that are kept; the oldest go. */
  maxBackups: number;
  /** Told of lines that could not be written, and why. */
  onLost(lines: number, error: ArcError): void;
}

export interface RotatingFile {
  /** Queues a line; false where too many wait for a slow disk already. */
  write(line: string): boolean;
  /** Resolves when everything queued is in the file. */
  close(): Promise<void>;
}

/** Bytes that may wait for the disk. */
const waitingLimit = 64 * 1024 * 1024;
/** Bytes written at a time. */
const batchBytes = 1024 * 1024;

/**
 * Lines appended to a file of bounded length, with a bounded number of former ones beside it. A file that somebody else has
 * moved away or removed (logrotate) is begun anew. Rejects where it cannot be opened.
 */
export async function openRotatingFile(options: RotatingFileOptions): Promise<RotatingFile> {
  const { file, maxBytes, maxBackups, onLost } = options;
  let opened = await openLog(file);
  let queue: Buffer[] = [];
  let waiting = 0;
  let pumping: Promise<void> | undefined;
  /** A write that failed may have left half a line. */
  let isTorn = false;

  const rotate = async () => {
    await opened.handle.close();
    await rename(file, asideName(file));
    await removeOldest(file, maxBackups);
    opened = await openLog(file);
  };

  const append = async (bytes: Buffer) => {
    if (!(await isStill(file, opened))) {
      await opened.handle.close();
      opened = await openLog(file);
    }
    if (opened.size > 0 && opened.size + bytes.byteLength > maxBytes) await rotate();
    if (isTorn) await opened.handle.appendFile('\n');
    isTorn = false;
    await opened.handle.appendFile(bytes);
    opened.size += bytes.byteLength;
  };

  const pump = async () => {
    while (queue.length > 0) {
      const batch = take(queue, Math.min(batchBytes, maxBytes));
      queue = queue.slice(batch.length);
      const bytes = Buffer.concat(batch);
      try {
        await append(bytes);
      } catch (caught) {
        isTorn = true;
        onLost(batch.length, ArcError.from(caught));
      }
      waiting -= bytes.byteLength;
    }
    pumping = undefined;
  };

  return {
    write(line) {
      const bytes = Buffer.from(`${line}\n`);
      if (waiting + bytes.byteLength > waitingLimit) return false;
      waiting += bytes.byteLength;
      queue.push(bytes);
      pumping ??= pump();
      return true;
    },
    async close() {
      await pumping;
      await opened.handle.close();
    },
  };
}

interface OpenedLog {
  handle: FileHandle;
  size: number;
  inode: number;
}

async function openLog(file: string): Promise<OpenedLog> {
  const handle = await open(file, 'a', 0o600);
  const { size, ino: inode } = await handle.stat();
  return { handle, size, inode };
}

async function isStill(file: string, { inode }: OpenedLog): Promise<boolean> {
  const found = await stat(file).catch((caught: NodeJS.ErrnoException) => {
    if (caught.code === 'ENOENT') return undefined;
    throw caught;
  });
  return found?.ino === inode;
}

/** As many lines from the front as fit in `bytes`, and at least one. */
function take(lines: readonly Buffer[], bytes: number): Buffer[] {
  let sum = 0;
  const end = lines.findIndex((line, index) => {
    sum += line.byteLength;
    return index > 0 && sum > bytes;
  });
  return lines.slice(0, end === -1 ? undefined : end);
}

let asides = 0;

/** Names of former files sort by time. */
function asideName(file: string): string {
  const { dir, name, ext } = path.parse(file);
  asides += 1;
  const time = new Date().toISOString().replaceAll(':', '-');
  return path.join(dir, `${name}-${time}-${String(asides).padStart(6, '0')}${ext}`);
}

async function removeOldest(file: string, keep: number): Promise<void> {
  const { dir, name, ext } = path.parse(file);
  const pattern = /^-\d{4}-\d\d-\d\dT[\d.-]+Z-\d{6}$/;
  const former = (await readdir(dir === '' ? '.' : dir)).filter(
    (each) =>
      each.startsWith(name) &&
      each.endsWith(ext) &&
      pattern.test(each.slice(name.length, each.length - ext.length)),
  );
  const surplus = former.sort().slice(0, Math.max(0, former.length - keep));
  for (const each of surplus) await rm(path.join(dir, each), { force: true });
}
