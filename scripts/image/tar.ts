/** One entry of a tar: its path without a leading slash, and its mode, such as 0o755. */
export type Entry =
  | { type: 'file'; path: string; mode: number; content: Buffer }
  | { type: 'directory'; path: string; mode: number }
  | { type: 'link'; path: string; target: string };

const block = 512;
const longestName = 100;
const typeFlags = { file: '0', link: '2', directory: '5' };

/**
 * A POSIX tar (ustar, IEEE 1003.1) of `entries`, sorted by path and with every folder above them: owner 0:0, all times
 * `mtime` (seconds). The same entries in any order give the same bytes. Throws for what ustar cannot hold and for two entries of one path.
 */
export function tarOf(entries: readonly Entry[], mtime: number): Buffer {
  const parts = [];
  for (const entry of withFolders(entries)) {
    parts.push(tarHeader(entry, mtime));
    if (entry.type === 'file') parts.push(entry.content, tarPadding(entry.content.length));
  }
  return Buffer.concat([...parts, tarEnd]);
}

/** What ends every tar. */
export const tarEnd = Buffer.alloc(2 * block);

/** What follows a file's content. */
export function tarPadding(size: number): Buffer {
  return Buffer.alloc((block - (size % block)) % block);
}

/** The block in front of an entry; `size` for a file whose content comes from elsewhere. */
export function tarHeader(
  entry: Entry,
  mtime: number,
  size = entry.type === 'file' ? entry.content.length : 0,
): Buffer {
  const name = entry.type === 'directory' ? `${entry.path}/` : entry.path;
  const target = entry.type === 'link' ? entry.target : '';
  for (const text of [name, target])
    if (Buffer.byteLength(text) > longestName)
      throw new Error(`${text} is longer than the ${longestName} bytes that a tar of ours can hold`);
  const header = Buffer.alloc(block);
  header.write(name, 0);
  header.write(octal(entry.type === 'link' ? 0o777 : entry.mode, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(octal(size, 12), 124);
  header.write(octal(mtime, 12), 136);
  header.write(' '.repeat(8), 148);
  header.write(typeFlags[entry.type], 156);
  header.write(target, 157);
  header.write('ustar\x0000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 7)} `, 148);
  return header;
}

/** `length` bytes: digits and a NUL. */
function octal(value: number, length: number): string {
  const digits = value.toString(8).padStart(length - 1, '0');
  if (digits.length >= length) throw new Error(`${value} does not fit into ${length - 1} octal digits`);
  return `${digits}\0`;
}

function withFolders(entries: readonly Entry[]): Entry[] {
  const all = new Map<string, Entry>();
  for (const entry of entries) {
    if (all.has(entry.path)) throw new Error(`${entry.path} is there twice`);
    all.set(entry.path, entry);
  }
  for (const { path } of entries) {
    const parts = path.split('/');
    for (let depth = 1; depth < parts.length; depth += 1) {
      const folder = parts.slice(0, depth).join('/');
      if (!all.has(folder)) all.set(folder, { type: 'directory', path: folder, mode: 0o755 });
    }
  }
  // By code units, not by locale; a folder comes before what is in it.
  return [...all.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}
