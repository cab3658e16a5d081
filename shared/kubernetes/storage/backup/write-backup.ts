import { createHash } from 'node:crypto';
import type { Store } from '../interface/store.ts';
import { backupFormat, lineOf } from './format.ts';

/** Items read at a time: few enough that other requests of this process go on between two pages. */
const pageItems = 500;

/**
 * Yields the text of a backup: all items under `prefix` as they were at one revision. Rejects with `Expired` where the store forgets that
 * revision before everything is read: start again.
 *
 * @param now when the backup is taken; for people, nothing is decided by it
 */
export async function* writeBackup(
  store: Store,
  { prefix, now, signal }: { prefix: string; now: Date; signal?: AbortSignal },
): AsyncGenerator<Buffer, void, undefined> {
  const options = { limit: pageItems, ...(signal && { signal }) };
  let page = await store.list(prefix, options);
  const { revision } = page;
  const hash = createHash('sha256');
  const total = page.items.length + page.remaining;
  const hashed = (lines: unknown[]) => {
    const text = Buffer.from(lines.map(lineOf).join(''));
    hash.update(text);
    return text;
  };
  yield hashed([{ format: backupFormat, time: now.toISOString(), revision, prefix, items: total }]);
  for (;;) {
    yield hashed(
      page.items.map(({ key, revision: written, value }) => ({
        key,
        revision: written,
        value: Buffer.from(value).toString('base64'),
      })),
    );
    const last = page.items.at(-1);
    if (!last || page.remaining === 0) break;
    page = await store.list(prefix, { ...options, revision, start: `${last.key}\0` });
  }
  yield Buffer.from(lineOf({ sha256: hash.digest('hex') }));
}
