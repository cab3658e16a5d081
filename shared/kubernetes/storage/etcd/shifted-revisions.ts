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

/** The key of the number that is added to etcd's revisions; absent: 0. */
export const shiftKey = '/storage/revision-shift';

/** Reads the revision shift of a store. */
export async function readShift(
  store: Pick<RenewableStore, 'get'>,
  signal?: AbortSignal,
): Promise<{ shift: number; item: StoredItem | undefined }> {
  const { item } = await store.get(shiftKey, signal ? { signal } : {});
  if (!item) return { shift: 0, item };
  const shift = Number(Buffer.from(item.value).toString());
  if (Number.isSafeInteger(shift) && shift > 0) return { shift, item };
  throw new ArcError('InternalError', `the key ${shiftKey} in etcd does not contain a number of revisions`);
}

/**
 * A store whose revisions are those of etcd plus `shift`. After a restore into a new etcd, which counts from 1 again, watches and lists at
 * earlier revisions must fail as expired instead of continuing at unrelated revisions with the same number. etcd itself can raise its
 * revision only offline.
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

  /** Throws Expired for a revision before the restore. */
  #check(revision: number): void {
    if (revision >= this.#shift) return;
    throw new ArcError(
      'Expired',
      `revision ${revision} is older than the restore of the store: the oldest is ${this.#shift}; list again`,
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

  /** The result of a write whose expected revision does not exist. */
  async #conflict(key: string): Promise<WriteResult> {
    return { ok: false, current: (await this.get(key)).item };
  }
}

/** Tells whether a valid revision is before the restore. Invalid revisions are rejected by the inner store. */
function isPast(expected: number, shift: number): boolean {
  return Number.isSafeInteger(expected) && expected > 0 && expected <= shift;
}
