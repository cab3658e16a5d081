import { readFile } from 'node:fs/promises';

/** The text of a file of the standalone's state; undefined before its first start wrote it. */
export async function readIfPresent(file: string): Promise<string | undefined> {
  return await readFile(file, 'utf8').catch((caught: NodeJS.ErrnoException) => {
    if (caught.code === 'ENOENT') return undefined;
    throw caught;
  });
}
