import type {
  ICompactionRequest,
  ICompactionResponse,
  IEvent,
  IKeyValue,
  IRangeRequest,
  IRangeResponse,
  IResponseHeader,
  ITxnRequest,
  ITxnResponse,
  IWatchCreateRequest,
  IWatchRequest,
  IWatchResponse,
} from 'etcd3';
import type { EtcdWire } from '../wire.ts';
import { checkRange, checkWatch, knownTransaction } from './fake-shapes.ts';
import { FakeStream } from './fake-stream.ts';

/** Intercepts a call in a test; `run` executes it. */
export type Intercept = (request: object, run: () => object) => Promise<object> | object;

interface Watcher {
  stream: FakeStream;
  request: IWatchCreateRequest;
}

/**
 * A strict in-memory etcd: rejects requests that kine does not support. Its messages resemble those of etcd in the relevant details: headers
 * contain the revision of the store even if older events are pending, 64-bit numbers are strings, absent messages are null, and long watch
 * responses are fragmented.
 */
export class FakeEtcd implements EtcdWire {
  readonly calls: { method: 'range' | 'txn' | 'compact'; request: object }[] = [];
  readonly streams: FakeStream[] = [];
  /** Events per watch message; a fragment may end within a revision. */
  messageEvents = 3;
  intercept: Intercept = (_, run) => run();
  /** While true, watches receive no messages. */
  muted = false;
  readonly #history: { revision: number; event: IEvent }[] = [];
  readonly #watchers = new Set<Watcher>();
  #now = new Map<string, IKeyValue>();
  #revision = 1;
  #compacted = 0;

  async range(request: IRangeRequest): Promise<IRangeResponse> {
    return this.#call('range', request, () => this.#range(request));
  }

  async txn(request: ITxnRequest): Promise<ITxnResponse> {
    return this.#call('txn', request, () => this.#txn(request));
  }

  async compact(request: ICompactionRequest): Promise<ICompactionResponse> {
    return this.#call('compact', request, () => {
      const revision = Number(request.revision);
      this.#checkRevision(revision, this.#compacted + 1);
      this.#compacted = revision;
      return { header: this.#header() };
    });
  }

  async watch(): Promise<FakeStream> {
    const stream: FakeStream = new FakeStream((request) => this.#onWatchRequest(stream, request));
    this.streams.push(stream);
    return stream;
  }

  renew(): void {}

  close(): void {
    this.dropConnections();
  }

  /** Breaks the connections of all watches and keeps the data. */
  dropConnections(): void {
    for (const { stream } of this.#watchers) stream.fail(new Error('14 UNAVAILABLE: Connection dropped'));
    this.#watchers.clear();
  }

  /** Writes several keys in one revision, like a transaction of another client. */
  putTogether(pairs: Record<string, string>): number {
    this.#revision += 1;
    const events = Object.entries(pairs).map(([key, value]) =>
      this.#put(Buffer.from(key), Buffer.from(value)),
    );
    this.#publish(events);
    return this.#revision;
  }

  async #call<T extends object>(
    method: 'range' | 'txn' | 'compact',
    request: object,
    run: () => T,
  ): Promise<T> {
    this.calls.push({ method, request });
    let made: T | undefined;
    await this.intercept(request, () => {
      made = run();
      return made;
    });
    if (made === undefined) throw new Error('14 UNAVAILABLE: the test swallowed the call');
    return made;
  }

  #range(request: IRangeRequest): IRangeResponse {
    checkRange(request);
    const revision = Number(request.revision ?? 0);
    if (revision > 0) this.#checkRevision(revision, this.#compacted);
    const state = revision > 0 ? this.#stateAt(revision) : this.#now;
    const all = [...state.values()]
      .filter((pair) => isInside(pair.key, request))
      .sort((a, b) => Buffer.compare(a.key, b.key));
    const kvs = all.slice(0, Number(request.limit) || undefined);
    return { header: this.#header(), kvs, more: kvs.length < all.length, count: String(all.length) };
  }

  #txn(request: ITxnRequest): ITxnResponse {
    const wanted = knownTransaction(request);
    const current = this.#now.get(wanted.key.toString('hex'));
    const succeeded =
      wanted.type === 'write'
        ? Number(current?.mod_revision ?? 0) === wanted.expected
        : Number(current?.version ?? 0) === wanted.version;
    if (!succeeded) {
      const read = this.#range({ key: wanted.key });
      const response = { response_range: read } as ITxnResponse['responses'][number];
      return { header: this.#header(), succeeded, responses: request.failure?.length ? [response] : [] };
    }
    this.#revision += 1;
    this.#publish([wanted.value ? this.#put(wanted.key, wanted.value) : this.#delete(wanted.key)]);
    return { header: this.#header(), succeeded, responses: [] };
  }

  #put(key: Buffer, value: Buffer): IEvent {
    const before = this.#now.get(key.toString('hex'));
    const kv: IKeyValue = {
      key,
      value,
      mod_revision: String(this.#revision),
      create_revision: before?.create_revision ?? String(this.#revision),
      version: String(Number(before?.version ?? 0) + 1),
      lease: '0',
    };
    this.#now.set(key.toString('hex'), kv);
    return eventOf('Put', kv, before);
  }

  #delete(key: Buffer): IEvent {
    const before = this.#now.get(key.toString('hex'));
    this.#now.delete(key.toString('hex'));
    const [zero, mod_revision] = ['0', String(this.#revision)];
    const kv = { key, value: Buffer.of(), mod_revision, create_revision: zero, version: zero, lease: zero };
    return eventOf('Delete', kv, before);
  }

  #publish(events: IEvent[]): void {
    for (const event of events) this.#history.push({ revision: this.#revision, event });
    for (const watcher of this.#watchers) this.#tell(watcher, this.#revision);
  }

  #onWatchRequest(stream: FakeStream, request: IWatchRequest): void {
    if (request.progress_request && !this.muted) stream.push(this.#message({ watch_id: '-1' }));
    if (!request.create_request) return;
    checkWatch(request.create_request);
    stream.push(this.#message({ created: true }));
    const start = Number(request.create_request.start_revision);
    if (start < this.#compacted) {
      const compact_revision = String(this.#compacted);
      stream.push(this.#message({ canceled: true, compact_revision }));
      return;
    }
    const watcher = { stream, request: request.create_request };
    this.#watchers.add(watcher);
    this.#tell(watcher, start);
  }

  #tell({ stream, request }: Watcher, from: number): void {
    if (this.muted) return;
    const start = Math.max(from, Number(request.start_revision));
    const events = this.#history.filter(
      ({ revision, event }) => revision >= start && isInside(event.kv.key, request),
    );
    for (let at = 0; at < events.length; at += this.messageEvents) {
      const part = events.slice(at, at + this.messageEvents).map(({ event }) => event);
      const fragment = at + this.messageEvents < events.length;
      stream.push(this.#message({ events: part, fragment }));
    }
  }

  #message(fields: Partial<IWatchResponse>): IWatchResponse {
    return {
      header: this.#header(),
      watch_id: '0',
      created: false,
      canceled: false,
      compact_revision: '0',
      cancel_reason: '',
      fragment: false,
      events: [],
      ...fields,
    };
  }

  #header(): IResponseHeader {
    return { cluster_id: '1', member_id: '1', revision: String(this.#revision), raft_term: '2' };
  }

  #checkRevision(revision: number, oldest: number): void {
    const text = '11 OUT_OF_RANGE: etcdserver: mvcc: required revision';
    if (revision > this.#revision) throw new Error(`${text} is a future revision`);
    if (revision < oldest) throw new Error(`${text} has been compacted`);
  }

  #stateAt(at: number): Map<string, IKeyValue> {
    const state = new Map<string, IKeyValue>();
    for (const { revision, event } of this.#history) {
      if (revision > at) break;
      const key = event.kv.key.toString('hex');
      if (event.type === 'Put') state.set(key, event.kv);
      else state.delete(key);
    }
    return state;
  }
}

/** Absent messages are null, contrary to the types of the stubs. */
function eventOf(type: IEvent['type'], kv: IKeyValue, before: IKeyValue | undefined): IEvent {
  return { type, kv, prev_kv: (before ?? null) as IKeyValue };
}

function isInside(key: Buffer, range: { key?: Buffer; range_end?: Buffer }): boolean {
  const { key: start = Buffer.of(), range_end } = range;
  if (!range_end) return key.equals(start);
  return (
    Buffer.compare(key, start) >= 0 && (range_end.equals(Buffer.of(0)) || Buffer.compare(key, range_end) < 0)
  );
}
