import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';

/**
 * Creates a folder and its parents for the owner only. Does not use Node's `recursive`, which reports a read-only file system as a missing
 * folder and loops forever where folders cannot be created, as in /proc.
 */
export async function makeFolder(folder: string): Promise<void> {
  if (await isFolder(folder)) return;
  const above = path.dirname(folder);
  if (above !== folder) await makeFolder(above);
  await mkdir(folder, { mode: 0o700 }).catch(async (caught: unknown) => {
    // Another process may have created it meanwhile.
    if (!(await isFolder(folder))) throw caught;
  });
}

async function isFolder(folder: string): Promise<boolean> {
  const found = await stat(folder).catch(() => undefined);
  return found?.isDirectory() === true;
}

/** Reads a state file; undefined if it does not exist yet. */
export async function readIfPresent(file: string): Promise<string | undefined> {
  return await readFile(file, 'utf8').catch((caught: NodeJS.ErrnoException) => {
    if (caught.code === 'ENOENT') return undefined;
    throw caught;
  });
}

/** Writes a file atomically, readable only by its owner: a full disk or a kill must not truncate the state. */
export async function writeAtomically(file: string, text: string): Promise<void> {
  const partial = `${file}.partial`;
  await writeFile(partial, text, { mode: 0o600, flush: true });
  await rename(partial, file);
}

/** Returns the port of the last start in `folder`, so that an existing kubeconfig stays valid; 0 (any) at the first start. */
export async function loadPort(folder: string): Promise<number> {
  return Number.parseInt((await readIfPresent(path.join(folder, 'port'))) ?? '', 10) || 0;
}

export function savePort(folder: string, port: number): Promise<void> {
  return writeAtomically(path.join(folder, 'port'), String(port));
}
