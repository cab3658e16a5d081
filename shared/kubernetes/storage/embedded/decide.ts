import type { StoredItem, StoreEvent, WriteResult } from '../interface/store.ts';

/** A conditional write: `expected` is the revision the key must have (0: absent); no value means delete. */
export interface Write {
  key: string;
  value: Uint8Array | undefined;
  expected: number;
}

export interface Decision {
  results: WriteResult[];
  events: StoreEvent[];
}

/**
 * What a batch of writes does, one after the other, to a store that stands at `revision` and holds what `lookup`
 * answers: a result for each write and an event, with the next revision, for each that took place. Pure, so that
 * nothing is visible before the events are on disk.
 */
export function decide(
  writes: readonly Write[],
  lookup: (key: string) => StoredItem | undefined,
  revision: number,
): Decision {
  const staged = new Map<string, StoredItem | undefined>();
  const decision: Decision = { results: [], events: [] };
  let newest = revision;
  for (const write of writes) {
    const current = staged.has(write.key) ? staged.get(write.key) : lookup(write.key);
    const event = eventOf(write, current, newest + 1);
    if (!event) {
      decision.results.push({ ok: false, current });
      continue;
    }
    newest += 1;
    staged.set(write.key, event.type === 'put' ? itemOf(event) : undefined);
    decision.events.push(event);
    decision.results.push({ ok: true, revision: newest });
  }
  return decision;
}

function eventOf(write: Write, current: StoredItem | undefined, revision: number): StoreEvent | undefined {
  if ((current?.revision ?? 0) !== write.expected) return undefined;
  const { key, value } = write;
  if (value) return { type: 'put', key, value, revision, previous: current };
  return current && { type: 'delete', key, revision, previous: current };
}

/** The item that a put makes. */
export function itemOf({ key, value, revision }: StoredItem): StoredItem {
  return { key, value, revision };
}
