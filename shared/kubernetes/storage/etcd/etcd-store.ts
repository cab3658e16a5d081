import type { IRangeRequest, IRangeResponse, ITxnResponse } from 'etcd3';
import { createSemaphore, type Semaphore } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import { checkKey } from '../interface/keys.ts';
import type {
  ListOptions,
  ReadOptions,
  Store,
  StoredItem,
  StoredList,
  WatchBatch,
  WatchOptions,
  WriteResult,
} from '../interface/store.ts';
import { compactForever, compactTo, writeTurn } from './compactor.ts';
import type { EtcdTls } from './endpoints.ts';
import { classifyFailure } from './failure.ts';
import { type Keyspace, revisionOf } from './keyspace.ts';
import { checkKineAnswer, isKine, kineWrites } from './kine.ts';
import { type ListRequest, readList } from './read-list.ts';
import type { Observe } from './request-metrics.ts';
import { resolveWrite } from './resolve-write.ts';
import { checkOpen, retryRead, sendWrite } from './retry.ts';
import { SharedTimeout } from './shared-timeout.ts';
import { compactionKey, writeTransaction } from './transactions.ts';
import { WatchCursor } from './watch-cursor.ts';
import { watchEvents } from './watch-loop.ts';
import type { EtcdWire } from './wire.ts';

export interface EtcdParts {
  wire: EtcdWire;
  keyspace: Keyspace;
  /** Milliseconds; see EtcdStoreOptions. */
  requestTimeout: number;
  listTimeout: number;
  progressInterval: number;
  compactionInterval: number;
  onBackgroundError: (error: ArcError) => void;
  observe: Observe;
}

/** A store whose TLS identity can be replaced. */
export interface RenewableStore extends Store {
  /** Uses a new TLS identity for new connections, without interruption. Throws if certificate and key do not match. */
  renew(tls: EtcdTls): void;
}

interface Write {
  key: string;
  value: Uint8Array | undefined;
  expected: number;
}

/** Attempts of a list of the newest state whose revision is compacted between two pages. */
const listAttempts = 3;

/**
 * A Store backed by etcd. Reads are linearizable and retried until their timeout. Writes are sent once; if the response is lost, the
 * outcome is determined from the history of etcd.
 */
export class EtcdStore implements RenewableStore {
  readonly synced = true;
  /** Progress requests of the connected watches. */
  readonly #progress = new Set<() => void>();
  readonly #parts: EtcdParts;
  readonly #closed = new AbortController();
  readonly #timeout: SharedTimeout;
  #background: Promise<void> = Promise.resolve();
  /** Limits concurrent writes; set once kine has responded. */
  #kineWrites: Semaphore | undefined;
  /** The newest revision in any response. */
  #seen = 0;

  constructor(parts: EtcdParts) {
    this.#parts = parts;
    this.#timeout = new SharedTimeout(parts.requestTimeout);
    if (parts.compactionInterval === 0) return;
    const { wire, compactionInterval, onBackgroundError } = parts;
    this.#background = compactForever(wire, compactionInterval, onBackgroundError, this.#closed.signal);
  }

  async get(
    key: string,
    options: ReadOptions = {},
  ): Promise<{ item: StoredItem | undefined; revision: number }> {
    checkKey(key);
    const { keyspace, observe } = this.#parts;
    const request = { key: keyspace.encode(key) };
    const { header, kvs } = await observe('get', key, () => this.#range(request, options.signal));
    const [pair] = kvs;
    return { item: pair && keyspace.item(pair), revision: revisionOf(header.revision) };
  }

  async list(prefix: string, options: ListOptions = {}): Promise<StoredList> {
    const { start, revision = 0, limit, signal } = options;
    const request: ListRequest = { prefix, start, revision, limit: limit || undefined };
    const { keyspace, listTimeout, observe } = this.#parts;
    const end = performance.now() + listTimeout;
    const range = (page: IRangeRequest) => observe('list', prefix, () => this.#range(page, signal, end));
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await readList(range, keyspace, request);
      } catch (caught) {
        if (revision > 0 || attempt === listAttempts || !ArcError.is(caught, 'Expired')) throw caught;
      }
    }
  }

  create(key: string, value: Uint8Array): Promise<WriteResult> {
    return this.#parts.observe('create', key, () => this.#write({ key, value, expected: 0 }));
  }

  async update(key: string, value: Uint8Array, expected: number): Promise<WriteResult> {
    checkExpected(key, expected);
    return this.#parts.observe('update', key, () => this.#write({ key, value, expected }));
  }

  async delete(key: string, expected: number): Promise<WriteResult> {
    checkExpected(key, expected);
    return this.#parts.observe('delete', key, () => this.#write({ key, value: undefined, expected }));
  }

  watch(prefix: string, { after, signal }: WatchOptions): AsyncIterable<WatchBatch> {
    const { wire, keyspace, progressInterval, requestTimeout } = this.#parts;
    const parts = {
      wire,
      progressInterval,
      progress: this.#progress,
      openTimeout: requestTimeout,
      closed: this.#closed.signal,
    };
    return watchEvents(parts, new WatchCursor(keyspace, prefix, after), signal);
  }

  requestProgress(): void {
    for (const ask of this.#progress) ask();
  }

  /** The cheapest linearizable read: returns the revision of the cluster instead of one member. */
  async revision(options: ReadOptions = {}): Promise<number> {
    const { header } = await this.#range({ key: compactionKey, keys_only: true }, options.signal);
    return revisionOf(header.revision);
  }

  async compact(revision: number): Promise<void> {
    checkOpen(this.#closed.signal);
    const { wire, requestTimeout } = this.#parts;
    try {
      await compactTo(wire, revision, requestTimeout);
    } catch (caught) {
      if (!ArcError.is(caught, 'Timeout') || revision > this.#seen) throw caught;
      // kine reports the newest revisions as future ones until a write without concurrency has advanced its counter.
      await writeTurn(wire, requestTimeout);
      await compactTo(wire, revision, requestTimeout);
    }
  }

  renew(tls: EtcdTls): void {
    this.#parts.wire.renew(tls);
  }

  /** Ends watches, retries and compaction; rejects them with ServiceUnavailable. Calls in flight still finish. */
  async close(): Promise<void> {
    this.#closed.abort();
    this.#parts.wire.close();
    await this.#background;
  }

  /** Copies the value, because the caller may reuse its buffer before the request is encoded. */
  async #write({ key, value, expected }: Write): Promise<WriteResult> {
    checkOpen(this.#closed.signal);
    checkKey(key);
    const { wire, keyspace } = this.#parts;
    const began = performance.now();
    const copy = value && Buffer.from(value);
    const write = { key, value: copy, expected, since: this.#seen };
    const readAt = (at: number) => this.#readAt(key, at);
    const transaction = writeTransaction({ key: keyspace.encode(key), value: copy, expected });
    let response: ITxnResponse;
    try {
      const send = (timeout: number) => wire.txn(transaction, timeout);
      const sent = () => sendWrite(send, this.#timeout.left, this.#closed.signal);
      response = await (this.#kineWrites ? this.#kineWrites.run(sent) : sent());
    } catch (caught) {
      const { notApplied: certain, unsent, error } = classifyFailure(caught);
      if (unsent || !certain) this.#timeout.unanswered(began);
      if (certain || this.#closed.signal.aborted) throw error;
      return resolveWrite(write, readAt, error);
    }
    const { succeeded, header, responses } = response;
    const revision = this.#noteRevision(header.revision);
    if (isKine(header)) return checkKineAnswer(write, response, keyspace, readAt);
    if (succeeded) return { ok: true, revision };
    const pair = responses[0]?.response_range.kvs[0];
    return { ok: false, current: pair && keyspace.item(pair) };
  }

  async #readAt(key: string, revision: number) {
    const { keyspace } = this.#parts;
    const { header, kvs } = await this.#range({ key: keyspace.encode(key), revision }, undefined);
    const [pair] = kvs;
    const item = pair && { ...keyspace.item(pair), created: revisionOf(pair.create_revision) };
    return { item, revision: revisionOf(header.revision) };
  }

  /** Reads a range within the request timeout, and before `end` (in terms of performance.now()). */
  async #range(
    request: IRangeRequest,
    signal: AbortSignal | undefined,
    end = Number.POSITIVE_INFINITY,
  ): Promise<IRangeResponse> {
    const { wire } = this.#parts;
    const began = performance.now();
    const timeout = Math.min(this.#timeout.left, end - began);
    if (timeout <= 0) throw new ArcError('Timeout', 'the list timed out; use limit to read it in pages');
    const response = await retryRead((ms) => wire.range(request, ms), {
      timeout,
      signal,
      closed: this.#closed.signal,
    }).catch((caught: unknown) => {
      const isUnavailable = ArcError.is(caught, 'ServiceUnavailable', 'Timeout');
      if (isUnavailable && !signal?.aborted && !this.#closed.signal.aborted) this.#timeout.unanswered(began);
      throw caught;
    });
    this.#noteRevision(response.header.revision);
    if (isKine(response.header)) this.#kineWrites ??= createSemaphore(kineWrites);
    return response;
  }

  #noteRevision(text: string): number {
    const revision = revisionOf(text);
    this.#seen = Math.max(this.#seen, revision);
    this.#timeout.answered();
    return revision;
  }
}

function checkExpected(key: string, expected: number): void {
  if (Number.isSafeInteger(expected) && expected > 0) return;
  throw new ArcError(
    'BadRequest',
    `${key}: the expected revision must be a positive integer, not ${expected}`,
  );
}
