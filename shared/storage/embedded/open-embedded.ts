import { mkdir, realpath } from 'node:fs/promises';
import { ArcError } from '#shared/errors';
import { firstRevision, History } from '../history.ts';
import { Items } from '../items.ts';
import type { Store } from '../store.ts';
import { claimFolder } from './claim.ts';
import { createDisk, openDatabase } from './disk.ts';
import { EmbeddedStore } from './embedded-store.ts';

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
 * Rejects with ArcError: `Conflict` if the folder is in use, `InternalError` if the data cannot be read.
 */
export async function openEmbeddedStore(options: EmbeddedStoreOptions): Promise<Store> {
  const { historyLimit = 20_000, historyBytes = 64 * 1024 * 1024, progressInterval = 1000 } = options;
  const { recentBytes = 4 * 1024 * 1024 } = options;
  // Credentials are among the values.
  await mkdir(options.folder, { recursive: true, mode: 0o700 });
  const folder = await realpath(options.folder);
  const database = await openDatabase(folder);
  let release: (() => void) | undefined;
  try {
    release = claimFolder(database, folder);
    const disk = createDisk(database);
    const loaded = disk.load();
    const { history: records, revision: newest } = loaded;
    const first = records[0]?.revision ?? newest + 1;
    if (
      records.some(({ revision }, at) => revision !== first + at) ||
      first + records.length !== newest + 1
    ) {
      throw new ArcError('InternalError', `the store in ${folder} is damaged: its history has gaps`);
    }
    // A store that has forgotten nothing can be watched from the beginning.
    const floor = first <= firstRevision + 1 ? 0 : first - 1;
    const limits = { events: historyLimit, bytes: historyBytes };
    const archive = { recentBytes, valueAt: disk.valueAt };
    const history = new History(limits, { floor, newest, records }, archive);
    return new EmbeddedStore({ disk, items: new Items(loaded.items), history, release, progressInterval });
  } catch (caught) {
    release?.();
    await database.close();
    throw caught;
  }
}
