import { createHash } from 'node:crypto';
import type { Store } from '../interface/store.ts';
import { backupFormat, lineOf } from './format.ts';

/** Items per page; small enough not to block other requests of the process. */
const pageItems = 500;

/**
 * Yields a backup: all items under `prefix` at one revision. Rejects with `Expired` if that revision is compacted before all items are
 * read: start again.
 *
 * @param now the informational time in the header
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
