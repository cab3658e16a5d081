import type { Store } from '../interface/store.ts';
import { firstRevision, History } from '../memory/history.ts';
import { Items } from '../memory/items.ts';
import { StoreDamaged } from './damage.ts';
import { EmbeddedStore } from './embedded-store.ts';
import { takeFolder } from './folder-lock.ts';
import { openChecked } from './open-checked.ts';
import { explainDamage, salvage } from './salvage.ts';

export interface EmbeddedStoreOptions {
  /** Where the data lives; made if absent. One store at a time may have it open. */
  folder: string;
  /** How many events are kept for past revisions and for watches that resume (default 20,000). */
  historyLimit?: number;
  /** How many bytes of replaced values are kept with them, on disk (default 64 MiB). */
  historyBytes?: number;
  /** How many bytes of those are kept in memory, too: what watches that keep up have yet to see (default 4 MiB). */
  recentBytes?: number;
  /** ms after which a watch that waits hears how far the store has come (default 1,000). */
  progressInterval?: number;
}

/**
 * Opens the store that lives in a folder of this machine, for one process. It holds all current values and the
 * newest of the history in memory; an acknowledged write is on disk (docs/decisions/0011-lmdb-for-the-standalone.md).
 * Rejects with ArcError: `Conflict` if the folder is in use, `Invalid` if its file system cannot hold a store, StoreDamaged
 * (`InternalError`) if the data is not what was written, `InternalError` if it is of another version.
 */
export async function openEmbeddedStore(options: EmbeddedStoreOptions): Promise<Store> {
  const { historyLimit = 20_000, historyBytes = 64 * 1024 * 1024, progressInterval = 1000 } = options;
  const { recentBytes = 4 * 1024 * 1024 } = options;
  const { folder, release } = await takeFolder(options.folder);
  try {
    const { disk, loaded } = await openChecked(folder);
    const { history: records, revision: newest } = loaded;
    const first = records[0]?.revision ?? newest + 1;
    // A store that has forgotten nothing can be watched from the beginning.
    const floor = first <= firstRevision + 1 ? 0 : first - 1;
    const limits = { events: historyLimit, bytes: historyBytes };
    const archive = { recentBytes, valueAt: disk.valueAt };
    const history = new History(limits, { floor, newest, records }, archive);
    return new EmbeddedStore({ disk, items: new Items(loaded.items), history, release, progressInterval });
  } catch (caught) {
    release();
    release();
    throw caught instanceof StoreDamaged ? explainDamage(folder, caught, salvage(folder)) : caught;
  }
}
