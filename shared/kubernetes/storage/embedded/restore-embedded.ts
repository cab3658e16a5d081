import { randomUUID } from 'node:crypto';
import { revisionsAhead } from '../backup/format.ts';
import type { Backup } from '../backup/read-backup.ts';
import { takeFolder } from './folder-lock.ts';
import { openChecked } from './open-checked.ts';
import { replaceData } from './replace-data.ts';
import { readExpected } from './sentinel.ts';

/**
 * Replaces the content of a store, damaged or not, by a backup. The new store has no history, and its revision exceeds every revision that a
 * client can have seen. Returns the subfolder with the previous files. Rejects with `Conflict` while another process uses the store.
 */
export async function restoreEmbeddedStore(
  options: { folder: string },
  { items, revision: saved }: Backup,
): Promise<string> {
  const { folder, release } = await takeFolder(options.folder);
  try {
    const previous = await previousStore(folder);
    const revision = Math.max(saved, previous?.revision ?? 0) + revisionsAhead;
    const renumbered = items.map((item, index) => ({ ...item, revision: revision - index }));
    return await replaceData(
      folder,
      { items: renumbered, id: previous?.id ?? randomUUID(), revision },
      'replaced',
    );
  } finally {
    release();
  }
}

/** Returns the identity and revision of the replaced store; undefined if unreadable. */
async function previousStore(folder: string): Promise<{ id: string; revision: number } | undefined> {
  const expected = await Promise.resolve()
    .then(() => readExpected(folder))
    .catch(() => undefined);
  if (!expected) return undefined;
  const { disk, loaded } = await openChecked(folder).catch(() => ({ disk: undefined, loaded: undefined }));
  await disk?.close();
  return { id: expected.id, revision: Math.max(expected.revision, loaded?.revision ?? 0) };
}
