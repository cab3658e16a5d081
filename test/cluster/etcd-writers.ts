import { expect } from 'vitest';
import { ArcError } from '#shared/base/errors';
import type { Store, StoredItem, StoreEvent } from '#shared/kubernetes/storage';
import { eventually } from '../../shared/base/testing/eventually.ts';
import { bytes, line, written } from '../contract/store-support.ts';

/** The answers that writers got to their writes, to be compared with watches and lists. */
export interface WriteOutcomes {
  /** By revision: what was acknowledged, as "put /key value" or "delete /key". */
  acknowledged: Map<number, string>;
  /** Writes whose outcome the store could not tell. */
  unknown: Set<string>;
}

/** Writes one key until `signal` is aborted: counts up, deletes it every seventh time, and goes on whatever fails. */
export async function writeLane(
  store: Store,
  key: string,
  outcomes: WriteOutcomes,
  signal: AbortSignal,
): Promise<void> {
  let item: StoredItem | undefined;
  let known = true;
  for (let count = 0; !signal.aborted; count += 1) {
    const value = item && count % 7 === 6 ? undefined : bytes(`${count}`);
    const what = value ? `put ${key} ${count}` : `delete ${key}`;
    try {
      if (!known) ({ item } = await store.get(key));
      known = true;
      if (!item && !value) continue;
      const revision = await writeOnce(store, key, value, item);
      expect(outcomes.acknowledged.has(revision)).toBe(false);
      outcomes.acknowledged.set(revision, what);
      item = value && { key, value, revision };
    } catch (caught) {
      if (!ArcError.is(caught, 'Timeout', 'ServiceUnavailable')) throw caught;
      if (known) outcomes.unknown.add(what);
      known = false;
    }
  }
}

/** Puts or, without a value, deletes; nobody else writes the key, so a refusal is a failure. */
async function writeOnce(
  store: Store,
  key: string,
  value: Uint8Array | undefined,
  item: StoredItem | undefined,
): Promise<number> {
  if (value) return written(item ? store.update(key, value, item.revision) : store.create(key, value));
  return written(store.delete(key, item?.revision ?? 0));
}

export interface Lanes {
  outcomes: WriteOutcomes;
  /** The events of a watch that begins before the first write, when it has reached the end. `reached` hears how far it is. */
  follow(prefix: string, reached?: (revision: number) => void): Promise<StoreEvent[]>;
  /** Waits for so many more writes. */
  more(writes: number): Promise<void>;
  /** Ends the writers with a write that every watch waits for. @returns what is left under /lane/ */
  finish(): Promise<StoredItem[]>;
}

/** Starts writers of the keys /lane/0, /lane/1 and so on. */
export async function startLanes(store: Store, count: number): Promise<Lanes> {
  const after = await store.revision();
  const outcomes: WriteOutcomes = { acknowledged: new Map(), unknown: new Set() };
  const stop = new AbortController();
  let end: number | undefined;
  const writing = Array.from({ length: count }, (_, at) =>
    writeLane(store, `/lane/${at}`, outcomes, stop.signal),
  );
  return {
    outcomes,
    follow: (prefix, reached) => collectUntil(store, prefix, after, () => end, reached),
    more: (writes) => {
      const enough = outcomes.acknowledged.size + writes;
      return eventually(`${writes} more writes`, 60_000, () =>
        expect(outcomes.acknowledged.size).toBeGreaterThan(enough),
      );
    },
    finish: async () => {
      stop.abort();
      await Promise.all(writing);
      end = await written(store.create('/lane/end', bytes('end')));
      outcomes.acknowledged.set(end, 'put /lane/end end');
      // Moves every watch past the end, also one that heard of it before we did.
      await written(store.create('/done', bytes('')));
      return (await store.list('/lane/')).items;
    },
  };
}

/**
 * Collects the events of a watch until it reached `end()`; fails if one comes twice or out of order. `reached` hears
 * how far it has come.
 */
async function collectUntil(
  store: Store,
  prefix: string,
  after: number,
  end: () => number | undefined,
  reached: (revision: number) => void = () => undefined,
): Promise<StoreEvent[]> {
  const events: StoreEvent[] = [];
  let position = after;
  for await (const batch of store.watch(prefix, { after, signal: AbortSignal.timeout(120_000) })) {
    for (const event of batch.events) {
      if (event.revision <= position) expect.fail(`${line(event)} came after revision ${position}`);
      position = event.revision;
      events.push(event);
    }
    position = Math.max(position, batch.revision);
    reached(position);
    if (position >= (end() ?? Number.POSITIVE_INFINITY)) return events;
  }
  return expect.fail(`the watch ended at revision ${position}`);
}

/** Fails unless the events are the writes that were acknowledged, and perhaps unknown ones, neither more nor less, and lead to `items`. */
export function compare(outcomes: WriteOutcomes, events: StoreEvent[], items: StoredItem[]): void {
  const seen = new Map(events.map((event) => [event.revision, plain(event)]));
  for (const [revision, what] of outcomes.acknowledged)
    expect([revision, seen.get(revision)]).toEqual([revision, what]);
  for (const [revision, what] of seen)
    expect([revision, outcomes.acknowledged.has(revision) || outcomes.unknown.has(what)]).toEqual([
      revision,
      true,
    ]);
  const state = new Map<string, { key: string; value: Uint8Array; revision: number }>();
  for (const event of events) {
    expect(event.previous?.revision).toBe(state.get(event.key)?.revision);
    if (event.type === 'put') state.set(event.key, event);
    else state.delete(event.key);
  }
  expect([...state.values()].map(({ key, revision }) => [key, revision]).sort()).toEqual(
    items.map(({ key, revision }) => [key, revision]).sort(),
  );
}

function plain(event: StoreEvent): string {
  return event.type === 'put'
    ? `put ${event.key} ${new TextDecoder().decode(event.value)}`
    : `delete ${event.key}`;
}
