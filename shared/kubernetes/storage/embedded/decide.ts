import type { StoredItem, StoreEvent, WriteResult } from '../interface/store.ts';

/** A conditional write. `expected` is the required revision of the key (0: absent); without a value, a delete. */
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
 * Evaluates a batch of writes in order against the state that `lookup` returns at `revision`. Returns a result per write, and an event with
 * the next revision per successful write. Pure, so that nothing is visible before the events are on disk.
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

/** Returns the item written by a put. */
export function itemOf({ key, value, revision }: StoredItem): StoredItem {
  return { key, value, revision };
}
