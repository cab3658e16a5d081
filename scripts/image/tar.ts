import { buffer } from 'node:stream/consumers';
import { type Pack, pack } from 'tar-stream';

/** One entry of a tar: its path without a leading slash, and its mode, such as 0o755. */
export type Entry =
  | { type: 'file'; path: string; mode: number; content: Buffer }
  | { type: 'directory'; path: string; mode: number }
  | { type: 'link'; path: string; target: string };

/** tar-stream stores times in 32 bits: later times do not fit. */
const endOfTime = 2 ** 31;

/**
 * Returns a POSIX tar of `entries`, sorted by path and with all parent folders: owner 0:0, all times `mtime` (seconds). The order of the entries
 * does not affect the bytes. Rejects for a time after January 2038 and for duplicate paths.
 */
export async function tarOf(entries: readonly Entry[], mtime: number): Promise<Buffer> {
  const archive = pack();
  const bytes = buffer(archive);
  try {
    for (const entry of withFolders(entries)) await addEntry(archive, entry, mtime);
    archive.finalize();
  } catch (caught) {
    archive.destroy();
    await bytes.catch(() => undefined);
    throw caught;
  }
  return bytes;
}

/** Adds one entry with owner 0:0 and time `mtime` (seconds), and waits until it is consumed. */
export function addEntry(archive: Pack, entry: Entry, mtime: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  if (!(mtime >= 0 && mtime < endOfTime))
    throw new Error(`the time ${mtime} is outside of 1970 to 2038, which is what a tar of ours can hold`);
  const common = { name: entry.path, uid: 0, gid: 0, mtime: new Date(mtime * 1000) };
  const end = (error?: Error | null) => (error ? reject(error) : resolve());
  if (entry.type === 'file') archive.entry({ ...common, type: 'file', mode: entry.mode }, entry.content, end);
  else if (entry.type === 'directory')
    archive.entry({ ...common, name: `${entry.path}/`, type: 'directory', mode: entry.mode }, end);
  else archive.entry({ ...common, type: 'symlink', mode: 0o777, linkname: entry.target }, end);
  return promise;
}

function withFolders(entries: readonly Entry[]): Entry[] {
  const all = new Map<string, Entry>();
  for (const entry of entries) {
    if (all.has(entry.path)) throw new Error(`duplicate entry ${entry.path}`);
    all.set(entry.path, entry);
  }
  for (const { path } of entries) {
    const parts = path.split('/');
    for (let depth = 1; depth < parts.length; depth += 1) {
      const folder = parts.slice(0, depth).join('/');
      if (!all.has(folder)) all.set(folder, { type: 'directory', path: folder, mode: 0o755 });
    }
  }
  // By code units, not by locale; a folder precedes its content.
  return [...all.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}
