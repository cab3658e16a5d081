import { randomUUID } from 'node:crypto';
import { revisionsAhead } from '../backup/format.ts';
import type { Backup } from '../backup/read-backup.ts';
import { takeFolder } from './folder-lock.ts';
import { openChecked } from './open-checked.ts';
import { replaceData } from './replace-data.ts';
import { readExpected } from './sentinel.ts';

/**
 * Replaces the whole content of the store in a folder, damaged or not, by that of a backup. Its history is empty and its revisions go on far
 * beyond every revision that a client can have seen. Returns the folder that the former files are kept in. Rejects with `Conflict`
 * while another process has the store.
 */
export async function restoreEmbeddedStore(
  options: { folder: string },
  { items, revision: saved }: Backup,
): Promise<string> {
  const { folder, release } = await takeFolder(options.folder);
  try {
    const former = await formerOf(folder);
    const revision = Math.max(saved, former?.revision ?? 0) + revisionsAhead;
    const renumbered = items.map((item, index) => ({ ...item, revision: revision - index }));
    return await replaceData(
      folder,
      { items: renumbered, id: former?.id ?? randomUUID(), revision },
      'replaced',
    );
  } finally {
    release();
  }
}

/** What is known of the store that is replaced; undefined where even that is damaged. */
async function formerOf(folder: string): Promise<{ id: string; revision: number } | undefined> {
  const expected = await Promise.resolve()
    .then(() => readExpected(folder))
    .catch(() => undefined);
  if (!expected) return undefined;
  const { disk, loaded } = await openChecked(folder).catch(() => ({ disk: undefined, loaded: undefined }));
  await disk?.close();
  return { id: expected.id, revision: Math.max(expected.revision, loaded?.revision ?? 0) };
}
