import { randomUUID } from 'node:crypto';
import { StoreDamaged } from './damage.ts';
import { takeFolder } from './folder-lock.ts';
import { openChecked } from './open-checked.ts';
import { replaceData } from './replace-data.ts';
import { salvage } from './salvage.ts';
import { type Expected, readExpected } from './sentinel.ts';

/** The result of a recovery. */
export interface Recovery {
  /** Describes the damage. */
  damage: string;
  /** Number of recovered items. */
  saved: number;
  /** Keys of items that are lost. */
  lost: string[];
  /** The folder with the damaged files. */
  aside: string;
}

/**
 * Allowance for lost writes whose revisions clients may have seen. A client that knows a newer revision than the store waits for it instead
 * of relisting.
 */
const lostRevisions = 1000;

/**
 * Replaces a damaged store by a new one with the readable items, and moves the damaged files to a subfolder. The new store has no history, so
 * watches must relist. Returns undefined without changes if the store is not damaged. Atomic: a crash leaves the damaged or the new store.
 * Rejects like openEmbeddedStore.
 */
export async function recoverEmbeddedStore(options: { folder: string }): Promise<Recovery | undefined> {
  const { folder, release } = await takeFolder(options.folder);
  try {
    const damage = await damageOf(folder);
    if (!damage) return undefined;
    const found = salvage(folder);
    const expected = expectedOf(folder);
    const id = expected?.id ?? found.id ?? randomUUID();
    const revision = Math.max(found.revision, expected?.revision ?? 0) + lostRevisions;
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

/** Returns undefined if the sentinel is damaged. */
function expectedOf(folder: string): Expected | undefined {
  try {
    return readExpected(folder);
  } catch (caught) {
    if (caught instanceof StoreDamaged) return undefined;
    throw caught;
  }
}
