import { randomUUID } from 'node:crypto';
import { StoreDamaged } from './damage.ts';
import { takeFolder } from './folder-lock.ts';
import { openChecked } from './open-checked.ts';
import { replaceData } from './replace-data.ts';
import { salvage } from './salvage.ts';
import { type Expected, readExpected } from './sentinel.ts';

/** What became of a damaged store. */
export interface Recovery {
  /** What was wrong. */
  damage: string;
  /** How many items are in the fresh store. */
  saved: number;
  /** Keys of items that are known to have been there and cannot be read. */
  lost: string[];
  /** The folder that the damaged files were moved to. */
  aside: string;
}

/**
 * Revisions that clients may have seen of writes of which nothing is left. A client that knows a greater revision than the store waits for it
 * instead of listing again.
 */
const unseenRevisions = 1000;

/**
 * Makes a fresh store of what can be read of a damaged one, in the same folder, and keeps the damaged files in a folder beside it. Its history is
 * empty: watches begin anew. Returns undefined, and has done nothing, if the store is not damaged. A kill in between leaves the damaged store
 * or the fresh one. Rejects as openEmbeddedStore does.
 */
export async function recoverEmbeddedStore(options: { folder: string }): Promise<Recovery | undefined> {
  const { folder, release } = await takeFolder(options.folder);
  try {
    const damage = await damageOf(folder);
    if (!damage) return undefined;
    const found = salvage(folder);
    const expected = expectedOf(folder);
    const id = expected?.id ?? found.id ?? randomUUID();
    const revision = Math.max(found.revision, expected?.revision ?? 0) + unseenRevisions;
    const aside = await replaceData(folder, { items: found.items, id, revision }, 'damaged');
    return { damage: damage.what, saved: found.items.length, lost: found.lost, aside };
  } finally {
    release();
  }
}

async function damageOf(folder: string): Promise<StoreDamaged | undefined> {
  try {
    const { disk } = await openChecked(folder);
    await disk.close();
    return undefined;
  } catch (caught) {
    if (caught instanceof StoreDamaged) return caught;
    throw caught;
  }
}

/** Undefined where that itself is damaged. */
function expectedOf(folder: string): Expected | undefined {
  try {
    return readExpected(folder);
  } catch (caught) {
    if (caught instanceof StoreDamaged) return undefined;
    throw caught;
  }
}
