import { ArcError } from '#shared/base/errors';
import type { StoredItem, WriteResult } from '../interface/store.ts';

/** A write whose response was lost. `value` undefined: a delete. `expected` 0: a create. */
export interface LostWrite {
  key: string;
  value: Uint8Array | undefined;
  expected: number;
  /** A revision of the store before the write, which has a later revision if it was applied. */
  since: number;
}

/** Reads the key at a revision (0: newest), and the current revision of the store. */
export type ReadAt = (revision: number) => Promise<{
  item: (StoredItem & { created: number }) | undefined;
  revision: number;
}>;

/**
 * Determines the outcome of a write whose response was lost from the history of its key. Rejects with Timeout if the key is unchanged,
 * because the write may still be applied, and if the history is compacted. A write of identical bytes by another client counts as this
 * write (impossible in practice, because objects have a uid), and so does a delete of the same key by another client.
 */
export async function resolveWrite(write: LostWrite, readAt: ReadAt, cause: ArcError): Promise<WriteResult> {
  try {
    const now = await readAt(0);
    const result = await (write.expected === 0
      ? resolveCreate(write, now, readAt)
      : resolveChange(write, now, readAt));
    if (result) return result;
  } catch (caught) {
    throw outcomeUnknown(write, cause, `; reading it again failed: ${ArcError.from(caught).message}`);
  }
  throw outcomeUnknown(write, cause, '; it has not taken place so far');
}

/**
 * Determines whether a refused write was applied nevertheless, or may still be. `now` is the state of the key in the response. Rejects like
 * resolveWrite, but returns the refusal if the history is compacted.
 */
export async function checkRefusal(
  write: LostWrite,
  now: KeyState,
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
    throw outcomeUnknown(write, cause, `; reading it again failed: ${ArcError.from(caught).message}`);
  }
  throw outcomeUnknown(write, cause, '; it has not taken place so far');
}

export type KeyState = Awaited<ReturnType<ReadAt>>;

async function resolveCreate(
  write: LostWrite,
  { item }: KeyState,
  readAt: ReadAt,
): Promise<WriteResult | undefined> {
  if (!item) return undefined;
  if (item.created <= write.since) return { ok: false, current: withoutCreated(item) };
  const first = item.created === item.revision ? item : (await readAt(item.created)).item;
  if (first && isEqual(first.value, write.value)) return { ok: true, revision: item.created };
  return { ok: false, current: withoutCreated(item) };
}

async function resolveChange(
  write: LostWrite,
  now: KeyState,
  readAt: ReadAt,
): Promise<WriteResult | undefined> {
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

/** Returns the first revision that is not `isBefore`: usually the last write of the key, otherwise found by binary search. */
async function firstAfter(
  expected: number,
  now: KeyState,
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

function outcomeUnknown(write: LostWrite, cause: ArcError, reason: string): ArcError {
  const message = `the outcome of the write to ${write.key} is unknown (${cause.message})${reason}; read the object before you retry`;
  return new ArcError('Timeout', message, { cause });
}
