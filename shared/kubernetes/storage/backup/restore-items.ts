import { ArcError } from '#shared/base/errors';
import { compareKeys } from '../interface/keys.ts';
import type { Store, StoredItem } from '../interface/store.ts';
import type { Backup } from './read-backup.ts';

/** Concurrent writes. */
const concurrency = 32;

/** The number of items by what a restore did with them. */
export interface Restored {
  written: number;
  deleted: number;
  unchanged: number;
}

/**
 * Restores the prefix of a backup: writes missing and different items, deletes all others. Idempotent: repeat it after an interruption.
 * Rejects with `Conflict` if another client writes concurrently.
 */
export async function restoreItems(store: Store, { prefix, items }: Backup): Promise<Restored> {
  const present = (await store.list(prefix)).items;
  const found = new Map(present.map((item) => [item.key, item]));
  const wanted = new Set(items.map(({ key }) => key));
  const result: Restored = { written: 0, deleted: 0, unchanged: 0 };
  await inParallel(
    present.filter(({ key }) => !wanted.has(key)),
    async ({ key, revision }) => {
      check(key, await store.delete(key, revision));
      result.deleted += 1;
    },
  );
  await inParallel(items.toSorted(byKey), async ({ key, value }) => {
    const before = found.get(key);
    if (before && Buffer.compare(before.value, value) === 0) {
      result.unchanged += 1;
      return;
    }
    check(key, await (before ? store.update(key, value, before.revision) : store.create(key, value)));
    result.written += 1;
  });
  return result;
}

function byKey(a: StoredItem, b: StoredItem): number {
  return compareKeys(a.key, b.key);
}

function check(key: string, { ok }: { ok: boolean }): void {
  if (ok) return;
  throw new ArcError(
    'Conflict',
    `${key} changed during the restore: stop every api-server, then restore again`,
  );
}

async function inParallel<T>(all: readonly T[], act: (each: T) => Promise<void>): Promise<void> {
  const rest = all.values();
  const worker = async () => {
    for (const each of rest) await act(each);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}
