import type { Store } from '../interface/store.ts';
import { firstRevision, History } from '../memory/history.ts';
import { Items } from '../memory/items.ts';
import { StoreDamaged } from './damage.ts';
import { EmbeddedStore } from './embedded-store.ts';
import { takeFolder } from './folder-lock.ts';
import { openChecked } from './open-checked.ts';
import { explainDamage, salvage } from './salvage.ts';

export interface EmbeddedStoreOptions {
  /** The data folder; created if missing. Exclusive to one open store. */
  folder: string;
  /** Number of events kept for past revisions and resumed watches (default 20,000). */
  historyLimit?: number;
  /** Size limit of their replaced values on disk in bytes (default 64 MiB). */
  historyBytes?: number;
  /** Size limit of replaced values in memory in bytes, for watches that keep up (default 4 MiB). */
  recentBytes?: number;
  /** Interval of progress notifications to waiting watches in milliseconds (default 1,000). */
  progressInterval?: number;
}

/**
 * Opens the store in a local folder, for a single process. All current values and the newest history are in memory; acknowledged writes are
 * on disk (docs/decisions/0011-lmdb-for-the-standalone.md). Rejects with ArcError: `Conflict` if the folder is in use, `Invalid` if its
 * file system is not supported, StoreDamaged (`InternalError`) if the data is damaged, `InternalError` for the format of another version.
 */
export async function openEmbeddedStore(options: EmbeddedStoreOptions): Promise<Store> {
  const { historyLimit = 20_000, historyBytes = 64 * 1024 * 1024, progressInterval = 1000 } = options;
  const { recentBytes = 4 * 1024 * 1024 } = options;
  const { folder, release } = await takeFolder(options.folder);
  try {
    const { disk, loaded } = await openChecked(folder);
    const { history: records, revision: newest } = loaded;
    const first = records[0]?.revision ?? newest + 1;
    // A complete history can be watched from the beginning.
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
