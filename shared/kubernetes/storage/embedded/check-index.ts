import { StoreDamaged } from './damage.ts';
import type { Loaded } from './disk.ts';

/**
 * Throws StoreDamaged unless each revision belongs to one key, the history has no gaps, and its last events match the items. Concurrent
 * writers to a folder, or a partially restored file, violate this.
 */
export function checkIndex({ revision: newest, items, history }: Loaded): void {
  const first = history[0]?.revision ?? newest + 1;
  const isGapless = history.every(({ revision }, at) => revision === first + at);
  if (!isGapless || first + history.length !== newest + 1)
    throw new StoreDamaged(`its history of revisions ${first} to ${newest} has gaps`);

  const keyOf = new Map<number, string>();
  for (const { key, revision } of items) {
    const other = keyOf.get(revision);
    if (other !== undefined)
      throw new StoreDamaged(`the items ${other} and ${key} both have revision ${revision}`);
    if (revision > newest)
      throw new StoreDamaged(`the item ${key} has revision ${revision}, and the newest is ${newest}`);
    keyOf.set(revision, key);
  }

  const last = new Map(history.map((record) => [record.key, record]));
  const revisionOf = new Map(items.map(({ key, revision }) => [key, revision]));
  for (const { type, key, revision } of last.values()) {
    const found = revisionOf.get(key);
    if (found === (type === 'put' ? revision : undefined)) continue;
    const state = found === undefined ? 'is missing' : `has revision ${found}`;
    throw new StoreDamaged(
      `the item ${key} ${state}, but its last event is the ${type} of revision ${revision}`,
    );
  }
  for (const [revision, key] of keyOf) {
    if (revision < first || last.get(key)?.revision === revision) continue;
    throw new StoreDamaged(
      `the item ${key} has revision ${revision}, which wrote ${history[revision - first]?.key}`,
    );
  }
}
