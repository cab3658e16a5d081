import { mkdir, realpath } from 'node:fs/promises';
import { ArcError } from '#shared/errors';
import { firstRevision, History } from '../history.ts';
import { Items } from '../items.ts';
import type { Store } from '../store.ts';
import { claimFolder } from './claim.ts';
import { createDisk, openDatabase } from './disk.ts';
import { EmbeddedStore } from './embedded-store.ts';
import { restoreEvents } from './record.ts';

export interface EmbeddedStoreOptions {
  /** Where the data lives; made if absent. One store at a time may have it open. */
  folder: string;
  /** How many events are kept for past revisions and for watches that resume (default 20,000). */
  historyLimit?: number;
  /** How many bytes of replaced values are kept with them, in memory and on disk (default 64 MiB). */
  historyBytes?: number;
  /** ms after which a watch that waits hears how far the store has come (default 1,000). */
  progressInterval?: number;
}

/**
 * Opens the store that lives in a folder of this machine, for one process. It holds all current values and the
 * history in memory; an acknowledged write is on disk (docs/decisions/0011-lmdb-for-the-standalone.md).
 * Rejects with ArcError: `Conflict` if the folder is in use, `InternalError` if the data cannot be read.
 */
export async function openEmbeddedStore(options: EmbeddedStoreOptions): Promise<Store> {
  const { historyLimit = 20_000, historyBytes = 64 * 1024 * 1024, progressInterval = 1000 } = options;
  // Credentials are among the values.
  await mkdir(options.folder, { recursive: true, mode: 0o700 });
  const folder = await realpath(options.folder);
  const database = await openDatabase(folder);
  let release: (() => void) | undefined;
  try {
    release = claimFolder(database, folder);
    const disk = createDisk(database);
    const loaded = disk.load();
    const events = restoreEvents(loaded.history, loaded.items);
    const newest = loaded.revision;
    const first = events[0]?.revision ?? newest + 1;
    if (events.length > 0 && events.at(-1)?.revision !== newest) {
      throw new ArcError('InternalError', `the store in ${folder} is damaged: its history has gaps`);
    }
    // A store that has forgotten nothing can be watched from the beginning.
    const floor = first <= firstRevision + 1 ? 0 : first - 1;
    const history = new History({ events: historyLimit, bytes: historyBytes }, { floor, newest, events });
    return new EmbeddedStore({ disk, items: new Items(loaded.items), history, release, progressInterval });
  } catch (caught) {
    release?.();
    await database.close();
    throw caught;
  }
}
