import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';

/**
 * Makes a folder, and those above it, for its owner only. Not by the `recursive` of Node: that calls a read-only file system a folder that is
 * missing, and tries for ever where nobody can make one, as in /proc.
 */
export async function makeFolder(folder: string): Promise<void> {
  if (await isFolder(folder)) return;
  const above = path.dirname(folder);
  if (above !== folder) await makeFolder(above);
  await mkdir(folder, { mode: 0o700 }).catch(async (caught: unknown) => {
    // Somebody else may have made it meanwhile.
    if (!(await isFolder(folder))) throw caught;
  });
}

async function isFolder(folder: string): Promise<boolean> {
  const found = await stat(folder).catch(() => undefined);
  return found?.isDirectory() === true;
}

/** The text of a file of the standalone's state; undefined before its first start wrote it. */
export async function readIfPresent(file: string): Promise<string | undefined> {
  return await readFile(file, 'utf8').catch((caught: NodeJS.ErrnoException) => {
    if (caught.code === 'ENOENT') return undefined;
    throw caught;
  });
}

/** Writes a file that only its owner can read, whole or not at all: without it the state would be worth nothing after a full disk or a kill. */
export async function writeWhole(file: string, text: string): Promise<void> {
  const partial = `${file}.partial`;
  await writeFile(partial, text, { mode: 0o600, flush: true });
  await rename(partial, file);
}

/** The port of the last start in `folder`, so that a kubeconfig in use stays right; 0 (any) at the first. */
export async function rememberedPort(folder: string): Promise<number> {
  return Number.parseInt((await readIfPresent(path.join(folder, 'port'))) ?? '', 10) || 0;
}

export function rememberPort(folder: string, port: number): Promise<void> {
  return writeWhole(path.join(folder, 'port'), String(port));
}
