import { ArcError } from '#shared/base/errors';
import type {
  ListOptions,
  ReadOptions,
  StoredItem,
  StoreEvent,
  WatchBatch,
  WatchOptions,
  WriteResult,
} from '../interface/store.ts';
import type { EtcdTls } from './endpoints.ts';
import type { RenewableStore } from './etcd-store.ts';

/** Where the number is kept that is added to etcd's revisions; absent is 0. */
export const shiftKey = '/storage/revision-shift';

/** The shift that a store has been given. */
export async function readShift(
  store: Pick<RenewableStore, 'get'>,
  signal?: AbortSignal,
): Promise<{ shift: number; item: StoredItem | undefined }> {
  const { item } = await store.get(shiftKey, signal ? { signal } : {});
  if (!item) return { shift: 0, item };
  const shift = Number(Buffer.from(item.value).toString());
  if (Number.isSafeInteger(shift) && shift > 0) return { shift, item };
  throw new ArcError('InternalError', `the key ${shiftKey} in etcd is not a number of revisions`);
}

/**
 * A store whose revisions are etcd's plus `shift`. A fresh etcd counts from 1 again, and can be told to start elsewhere only while it is
 * stopped: after a restore, watches and lists that clients begin at a revision of before must be refused as expired, and not continue with
 * what happens to have the same number.
 */
export class ShiftedStore implements RenewableStore {
  readonly #store: RenewableStore;
  readonly #shift: number;

  constructor(store: RenewableStore, shift: number) {
    this.#store = store;
    this.#shift = shift;
  }

  get synced(): boolean {
    return this.#store.synced;
  }

  async get(key: string, options: ReadOptions = {}) {
    const { item, revision } = await this.#store.get(key, this.#reading(options));
    return { item: item && this.#outer(item), revision: revision + this.#shift };
  }

  async list(prefix: string, options: ListOptions = {}) {
    const { revision: at = 0 } = options;
    if (at > 0) this.#check(at);
    const inner = { ...this.#reading(options), ...(at > 0 && { revision: at - this.#shift }) };
    const { items, revision, remaining } = await this.#store.list(prefix, inner);
    return { items: items.map((item) => this.#outer(item)), revision: revision + this.#shift, remaining };
  }

  async create(key: string, value: Uint8Array): Promise<WriteResult> {
    return this.#result(await this.#store.create(key, value));
  }

  async update(key: string, value: Uint8Array, expected: number): Promise<WriteResult> {
    if (isPast(expected, this.#shift)) return this.#conflict(key);
    return this.#result(await this.#store.update(key, value, expected - this.#shift));
  }

  async delete(key: string, expected: number): Promise<WriteResult> {
    if (isPast(expected, this.#shift)) return this.#conflict(key);
    return this.#result(await this.#store.delete(key, expected - this.#shift));
  }

  async *watch(prefix: string, { after, signal }: WatchOptions): AsyncGenerator<WatchBatch, void, undefined> {
    if (after > 0) this.#check(after);
    const inner = { after: Math.max(0, after - this.#shift), signal };
    for await (const { events, revision } of this.#store.watch(prefix, inner))
      yield { events: events.map((event) => this.#outerEvent(event)), revision: revision + this.#shift };
  }

  requestProgress(): void {
    this.#store.requestProgress();
  }

  async revision(): Promise<number> {
    return (await this.#store.revision()) + this.#shift;
  }

  async compact(revision: number): Promise<void> {
    if (revision > this.#shift) await this.#store.compact(revision - this.#shift);
  }

  renew(tls: EtcdTls): void {
    this.#store.renew(tls);
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  /** Throws Expired for a revision of before the restore. */
  #check(revision: number): void {
    if (revision >= this.#shift) return;
    throw new ArcError(
      'Expired',
      `revision ${revision} is of before the store was restored: the oldest is ${this.#shift}; list again`,
    );
  }

  #reading<T extends ReadOptions>(options: T): T {
    const { atLeast } = options;
    return atLeast === undefined ? options : { ...options, atLeast: Math.max(0, atLeast - this.#shift) };
  }

  #outer(item: StoredItem): StoredItem {
    return { ...item, revision: item.revision + this.#shift };
  }

  #outerEvent(event: StoreEvent): StoreEvent {
    const revision = event.revision + this.#shift;
    if (event.type === 'delete') return { ...event, revision, previous: this.#outer(event.previous) };
    return { ...event, revision, previous: event.previous && this.#outer(event.previous) };
  }

  #result(result: WriteResult): WriteResult {
    if (result.ok) return { ok: true, revision: result.revision + this.#shift };
    return { ok: false, current: result.current && this.#outer(result.current) };
  }

  /** Nothing has the expected revision. */
  async #conflict(key: string): Promise<WriteResult> {
    return { ok: false, current: (await this.get(key)).item };
  }
}

/** A positive revision that no key of the store can have; others are for the store to judge. */
function isPast(expected: number, shift: number): boolean {
  return Number.isSafeInteger(expected) && expected > 0 && expected <= shift;
}
