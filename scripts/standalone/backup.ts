import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { readBackup, restoreEmbeddedStore, writeBackup } from '#shared/kubernetes/storage';
import { openState } from './open-state.ts';

/** All keys: the store also contains cluster kinds. */
const prefix = '/registry/';

/** Backs up the store in the standalone's folder and returns a message. Rejects with `Conflict` while the standalone runs. */
export async function backUpState(folder: string, file: string): Promise<string> {
  const store = await openState(folder);
  const partial = `${file}.partial`;
  try {
    const content = Readable.from(writeBackup(store, { prefix, now: new Date() }));
    await pipeline(content, createGzip(), createWriteStream(partial, { mode: 0o600, flush: true }));
    await rename(partial, file);
  } finally {
    await rm(partial, { force: true });
    await store.close();
  }
  return `Backed up to ${file}, including credentials in Secrets, but without tokens, certificates and bundles.`;
}

/** Replaces the store in the standalone's folder by a backup and returns a message. */
export async function restoreState(folder: string, file: string): Promise<string> {
  const content = createReadStream(file).on('error', (error) => gunzip.destroy(error));
  const gunzip = createGunzip();
  const backup = await readBackup(content.pipe(gunzip));
  if (backup.prefix !== prefix)
    throw new Error(`${file} is a backup of a cluster: restore it there with "arcctl restore ${file}"`);
  const aside = await restoreEmbeddedStore({ folder: path.join(folder, 'store') }, backup);
  return `Restored ${backup.items.length} objects as of ${backup.time}. The previous store is in ${aside}; delete it when you no longer need it.`;
}
