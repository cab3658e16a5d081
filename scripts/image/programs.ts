import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Bundle } from '../build/bundle.ts';
import type { Entry } from './tar.ts';

/** Folder of the programs in the image: `node /app/<name>.mjs` runs one. */
export const programFolder = '/app';

/** Returns every bundle as a file of the image. */
export function programEntries(bundles: readonly Bundle[]): Promise<Entry[]> {
  return Promise.all(
    bundles.map(async ({ name, file }): Promise<Entry> => {
      const place = path.posix.join(programFolder, `${name}.mjs`).slice(1);
      return { type: 'file', path: place, mode: 0o644, content: await readFile(file) };
    }),
  );
}
