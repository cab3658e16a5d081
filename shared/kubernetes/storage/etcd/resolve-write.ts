import { ArcError } from '#shared/base/errors';
import type { StoredItem, WriteResult } from '../interface/store.ts';

/** A write whose answer got lost. `value` undefined: a delete. `expected` 0: a create. */
export interface LostWrite {
  key: string;
  value: Uint8Array | undefined;
  expected: number;
  /** A revision of the store that was seen before the write was sent: the write took a later one, if any. */
  since: number;
}

/** One key as it was at a revision (0: now), and the revision of the store it was read at. */
export type ReadAt = (revision: number) => Promise<{
  item: (StoredItem & { created: number }) | undefined;
  revision: number;
}>;

/**
 * Finds out what became of a write whose answer got lost, by reading what happened to its key and comparing. If the
 * key is still as it was before, the write may yet take place: that, and a past that is compacted, is a Timeout.
 * Somebody else's write of the very same bytes counts as ours (objects carry a uid, so there is none), and so does
 * a deletion by another client of the key that we wanted to delete.
 */
export async function resolveWrite(write: LostWrite, readAt: ReadAt, cause: ArcError): Promise<WriteResult> {
  try {
    const now = await readAt(0);
    const result = await (write.expected === 0
      ? resolveCreate(write, now, readAt)
      : resolveChange(write, now, readAt));
    if (result) return result;
  } catch (caught) {
    throw unknown(write, cause, `; reading it again failed: ${ArcError.from(caught).message}`);
  }
  throw unknown(write, cause, '; it has not taken place so far');
}

/**
 * Finds out whether the refusal of a write hides that it took place, or that it may yet: `now` is what the answer says of the key.
 * Rejects as resolveWrite does. A past that is compacted leaves it at the refusal.
 */
export async function checkRefusal(
  write: LostWrite,
  now: Now,
  readAt: ReadAt,
  cause: ArcError,
): Promise<WriteResult> {
  const { item } = now;
  if (!item && write.expected === 0) return resolveWrite(write, readAt, cause);
  const refused: WriteResult = { ok: false, current: withoutCreated(item) };
  if (item && item.revision !== write.expected && item.revision <= write.since) return refused;
  const resolve = write.expected === 0 ? resolveCreate : resolveChange;
  try {
    const result = await resolve(write, now, readAt);
    if (result) return result;
  } catch (caught) {
    if (ArcError.is(caught, 'Expired')) return refused;
    throw unknown(write, cause, `; reading it again failed: ${ArcError.from(caught).message}`);
  }
  throw unknown(write, cause, '; it has not taken place so far');
}

export type Now = Awaited<ReturnType<ReadAt>>;

async function resolveCreate(
  write: LostWrite,
  { item }: Now,
  readAt: ReadAt,
): Promise<WriteResult | undefined> {
  if (!item) return undefined;
  if (item.created <= write.since) return { ok: false, current: withoutCreated(item) };
  const first = item.created === item.revision ? item : (await readAt(item.created)).item;
  if (first && isEqual(first.value, write.value)) return { ok: true, revision: item.created };
  return { ok: false, current: withoutCreated(item) };
}

async function resolveChange(write: LostWrite, now: Now, readAt: ReadAt): Promise<WriteResult | undefined> {
  if (now.item?.revision === write.expected) return undefined;
  const refused: WriteResult = { ok: false, current: withoutCreated(now.item) };
  if (now.revision < write.expected) return refused;
  const isBefore = async (revision: number) => (await readAt(revision)).item?.revision === write.expected;
  if (!(await isBefore(write.expected))) return refused;
  const changed = await firstAfter(write.expected, now, isBefore);
  const { item } = await readAt(changed);
  const isOurs = write.value ? item?.revision === changed && isEqual(item.value, write.value) : !item;
  return isOurs ? { ok: true, revision: changed } : refused;
}

/** The revision that ended the state `isBefore` describes: most often the key's last write, else by halving. */
async function firstAfter(
  expected: number,
  now: Now,
  isBefore: (revision: number) => Promise<boolean>,
): Promise<number> {
  if (now.item && (await isBefore(now.item.revision - 1))) return now.item.revision;
  let before = expected;
  let after = now.item ? now.item.revision - 1 : now.revision;
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (await isBefore(middle)) before = middle;
    else after = middle;
  }
  return after;
}

function withoutCreated(item: (StoredItem & { created: number }) | undefined): StoredItem | undefined {
  return item && { key: item.key, value: item.value, revision: item.revision };
}

function isEqual(value: Uint8Array, other: Uint8Array | undefined): boolean {
  return other !== undefined && Buffer.compare(value, other) === 0;
}

function unknown(write: LostWrite, cause: ArcError, what: string): ArcError {
  const message = `whether ${write.key} was written is not known (${cause.message})${what}; read it before you try again`;
  return new ArcError('Timeout', message, { cause });
}
