import { expect } from 'vitest';
import type { Store, StoreEvent, WatchBatch, WriteResult } from '#shared/kubernetes/storage';

/** An empty store for one test, and ways to lose and find it again. */
export interface StoreUnderTest {
  store: Store;
  /** Closes the store and opens the same data anew. */
  reopen(): Promise<Store>;
  /** Closes the store and removes its data. */
  dispose(): Promise<void>;
}

export type OpenStore = () => Promise<StoreUnderTest>;

/** Opens a store for the length of `use`. */
export async function withStore(
  open: OpenStore,
  use: (under: StoreUnderTest) => Promise<void>,
): Promise<void> {
  const under = await open();
  try {
    await use(under);
  } finally {
    await under.dispose();
  }
}

export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export function text(value: Uint8Array | undefined): string | undefined {
  return value && new TextDecoder().decode(value);
}

/** The revision a write took; fails the test if it was refused. */
export async function written(write: Promise<WriteResult>): Promise<number> {
  const result = await write;
  if (!result.ok) expect.fail(`the write was refused: ${JSON.stringify(result.current)}`);
  return result.revision;
}

/** Ends a watch after ten seconds, so that a test that waits for something that never comes says so. */
export function patience(): AbortSignal {
  return AbortSignal.timeout(10_000);
}

/** Reads batches until `enough`; fails, telling what came, if the watch ends before. */
export async function batchesUntil(
  store: Store,
  prefix: string,
  after: number,
  enough: (batches: WatchBatch[]) => boolean,
): Promise<WatchBatch[]> {
  const batches: WatchBatch[] = [];
  for await (const batch of store.watch(prefix, { after, signal: patience() })) {
    batches.push(batch);
    if (enough(batches)) return batches;
  }
  return expect.fail(
    `the watch ended early, after ${JSON.stringify(batches.map(({ revision }) => revision))}`,
  );
}

/** The first `count` events after a revision; a watch that has none to give would only wait. */
export async function eventsAfter(store: Store, prefix: string, after: number, count: number) {
  if (count === 0) return [];
  const batches = await batchesUntil(store, prefix, after, (seen) => eventsOf(seen).length >= count);
  return eventsOf(batches);
}

export function eventsOf(batches: WatchBatch[]): StoreEvent[] {
  return batches.flatMap(({ events }) => events);
}

/** An event in one line: type, key, revision, value, and what it replaced. */
export function line(event: StoreEvent): string {
  const value = event.type === 'put' ? ` ${text(event.value)}` : '';
  const previous = event.previous ? ` was ${text(event.previous.value)}@${event.previous.revision}` : '';
  return `${event.type} ${event.key}@${event.revision}${value}${previous}`;
}
