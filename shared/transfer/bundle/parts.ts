import { createReadStream } from 'node:fs';
import { type FileHandle, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { shortageIn } from '#shared/base/errors';
import { TransferError } from '../errors/transfer-error.ts';

/** The files of a bundle in order, read as one. */
export interface Parts {
  /** For messages. */
  readonly place: string;
  /** Total size in bytes. */
  readonly size: number;
  /** Reads the bytes from `start` to `end` (exclusive). */
  stream(start: number, end: number): Readable;
  /** Explains missing bytes at the end. */
  readonly truncation: string;
}

interface Part {
  file: string;
  size: number;
}

/** A bundle with a missing or truncated file, which may still be in transfer. */
export class IncompleteBundle extends TransferError {
  constructor(message: string) {
    super('permanent', message);
  }
}

const ending = /\.(\d{3,6})$/;

/** The name of part `number`, from 1 on: `FILE.001`. */
export function partName(file: string, number: number): string {
  return `${file}.${String(number).padStart(3, '0')}`;
}

/**
 * Finds the files of a bundle: FILE itself, or FILE.001, FILE.002 and so on. `name` is FILE, `FILE.*` or any part. Rejects with a
 * TransferError that names a missing part, or a part whose size differs from the first one.
 */
export async function findParts(name: string): Promise<Parts> {
  const pattern = /\.\*$/.test(name);
  if (!pattern && !ending.test(name)) {
    const whole = await sizeOf(name);
    if (whole !== undefined) return partsOf(name, [{ file: name, size: whole }], false);
  }
  const file = name.replace(pattern ? /\.\*$/ : ending, '');
  const numbers = await numbersOf(file, name);
  const found: Part[] = [];
  for (const [at, number] of numbers.entries()) {
    if (number !== at + 1)
      throw incomplete(
        `part ${partName(file, at + 1)} is missing, although ${partName(file, number)} exists`,
      );
    const each = partName(file, number);
    found.push({ file: each, size: (await sizeOf(each)) ?? 0 });
  }
  const first = found[0]?.size ?? 0;
  for (const [at, { file: each, size }] of found.entries())
    if (size > first || (size < first && at < found.length - 1))
      throw incomplete(`part ${each} has ${size} bytes, the first one ${first}: copy it again`);
  return partsOf(file, found, true);
}

/** Existing files of a bundle, its parts and unfinished files (`.partial`) included. */
export async function partsOfFile(file: string): Promise<string[]> {
  const { dir, base } = path.parse(file);
  const names = await readdir(dir || '.').catch(ignoreUnlessShortage);
  const own = (name: string) =>
    name.startsWith(base) && /^(?:\.\d{3,6})?(?:\.partial)?$/.test(name.slice(base.length));
  return names.filter(own).map((name) => path.join(dir, name));
}

/** The sorted numbers of the parts in the folder of `file`. */
async function numbersOf(file: string, asked: string): Promise<number[]> {
  const { dir, base } = path.parse(file);
  const names = await readdir(dir || '.').catch(ignoreUnlessShortage);
  const numbers = names
    .filter((each) => each.startsWith(`${base}.`) && ending.test(each) && each.replace(ending, '') === base)
    .map((each) => Number(ending.exec(each)?.[1]));
  if (numbers.length > 0) return numbers.sort((a, b) => a - b);
  throw new TransferError('config', `There is no bundle ${asked}, and no part ${partName(file, 1)}.`);
}

/** An unreadable folder has no parts, unless this process is out of file descriptors. */
function ignoreUnlessShortage(caught: unknown): string[] {
  if (shortageIn(caught) !== undefined) throw caught;
  return [];
}

function incomplete(why: string): IncompleteBundle {
  return new IncompleteBundle(`The bundle is incomplete: ${why}.`);
}

async function sizeOf(file: string): Promise<number | undefined> {
  try {
    const found = await stat(file);
    return found.isFile() ? found.size : undefined;
  } catch {
    // An unreadable file is reported as missing, by name.
    return undefined;
  }
}

function partsOf(file: string, parts: readonly Part[], numbered: boolean): Parts {
  const size = parts.reduce((sum, part) => sum + part.size, 0);
  const [first, last] = [parts[0], parts.at(-1)];
  const next = `part ${partName(file, parts.length + 1)} is missing`;
  const cut = `${last?.file} is shorter than it was written: copy it again`;
  const isFull = parts.length === 1 || last?.size === first?.size;
  return {
    place: `the bundle ${file}`,
    size,
    truncation: numbered ? (isFull ? next : cut) : cut,
    stream: (start, end) => Readable.from(contentOf(parts, start, end), { objectMode: false }),
  };
}

async function* contentOf(parts: readonly Part[], start: number, end: number): AsyncGenerator<Uint8Array> {
  let before = 0;
  for (const { file, size } of parts) {
    const [from, to] = [Math.max(start - before, 0), Math.min(end - before, size)];
    if (from < to) yield* createReadStream(file, { start: from, end: to - 1, highWaterMark: 256 * 1024 });
    before += size;
  }
}

/**
 * Writes `content` to `file`, or to parts of `partSize` bytes. The files are renamed from `.partial` once all of them are complete and
 * synced. Resolves with their names; after a failure, nothing is left behind.
 */
export async function writeParts(
  content: AsyncIterable<Uint8Array>,
  file: string,
  partSize: number | undefined,
  signal: AbortSignal,
): Promise<string[]> {
  const written: string[] = [];
  let handle: FileHandle | undefined;
  let room = 0;
  async function end(): Promise<void> {
    await handle?.sync();
    await handle?.close();
    handle = undefined;
  }
  async function begin(): Promise<FileHandle> {
    await end();
    const name = partSize === undefined ? file : partName(file, written.length + 1);
    // Unlinked first: an existing symbolic link could point anywhere.
    await rm(`${name}.partial`, { force: true });
    handle = await open(`${name}.partial`, 'wx');
    written.push(name);
    room = partSize ?? Number.POSITIVE_INFINITY;
    return handle;
  }
  try {
    for await (let chunk of content) {
      signal.throwIfAborted();
      while (chunk.length > 0) {
        const into = handle === undefined || room === 0 ? await begin() : handle;
        const { bytesWritten } = await into.write(chunk, 0, Math.min(chunk.length, room));
        room -= bytesWritten;
        chunk = chunk.subarray(bytesWritten);
      }
    }
    await end();
    for (const name of written) await rename(`${name}.partial`, name);
    return written;
  } catch (caught) {
    await handle?.close().catch(() => undefined);
    for (const name of written) await rm(`${name}.partial`, { force: true }).catch(() => undefined);
    throw caught;
  }
}
