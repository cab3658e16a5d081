import type { IEvent, IKeyValue, IWatchCreateRequest, IWatchResponse } from 'etcd3';
import { ArcError } from '#shared/base/errors';
import type { StoreEvent, WatchBatch } from '../interface/store.ts';
import { type Keyspace, revisionOf } from './keyspace.ts';

/**
 * The position of a watch, independent of its connection. It advances only with delivered events and progress notifications: headers of
 * other messages contain the revision of the store, and events before it may still be in flight. The watcher of etcd3 loses events there:
 * docs/decisions/0006-raw-etcd-stubs.md.
 */
export class WatchCursor {
  readonly #keyspace: Keyspace;
  readonly #prefix: string;
  #position: number;
  /** Events of the last revision of a fragment, which the next fragment may continue. */
  #incomplete: StoreEvent[] = [];

  constructor(keyspace: Keyspace, prefix: string, after: number) {
    this.#keyspace = keyspace;
    this.#prefix = prefix;
    this.#position = after;
  }

  /** Returns the request to resume the watch on a new connection after the last delivered event. */
  resume(): IWatchCreateRequest {
    this.#incomplete = [];
    return {
      ...this.#keyspace.range(this.#prefix),
      start_revision: this.#position + 1,
      prev_kv: true,
      progress_notify: true,
      fragment: true,
    };
  }

  /**
   * Returns the batch of a message, if any. Throws Expired if the position is compacted, and ServiceUnavailable if etcd ended the watch for
   * another reason.
   */
  take(message: IWatchResponse): WatchBatch | undefined {
    if (message.canceled) throw this.#canceled(message);
    if (message.created) return undefined;
    if (message.events.length === 0) return this.#progress(revisionOf(message.header.revision));
    const events = [...this.#incomplete, ...message.events.map((event) => this.#event(event))];
    this.#incomplete = [];
    if (message.fragment) {
      const last = events.at(-1)?.revision;
      const whole = events.findIndex((event) => event.revision === last);
      this.#incomplete = events.splice(whole);
    }
    return this.#advance(events.filter((event) => event.revision > this.#position));
  }

  #advance(events: StoreEvent[]): WatchBatch | undefined {
    const revision = events.at(-1)?.revision;
    if (revision === undefined) return undefined;
    this.#position = revision;
    return { events, revision };
  }

  #progress(revision: number): WatchBatch | undefined {
    if (this.#incomplete.length > 0 || revision <= this.#position) return undefined;
    this.#position = revision;
    return { events: [], revision };
  }

  #event({ type, kv, prev_kv }: IEvent): StoreEvent {
    // Missing messages are null, contrary to the types of the stubs.
    const before: IKeyValue | null = prev_kv;
    const previous = before ? this.#keyspace.item(before) : undefined;
    const { key, value, revision } = this.#keyspace.item(kv);
    if (type === 'Put') {
      if (!previous && revisionOf(kv.create_revision) !== revision)
        throw this.#previousCompacted(key, revision);
      return { type: 'put', key, value, revision, previous };
    }
    if (!previous) throw this.#previousCompacted(key, revision);
    return { type: 'delete', key, revision, previous };
  }

  #canceled({ compact_revision, cancel_reason }: IWatchResponse): ArcError {
    const compacted = revisionOf(compact_revision);
    if (compacted > 0 || cancel_reason.includes('compacted')) {
      const message = `revision ${this.#position} is compacted: the oldest that can be watched from is ${compacted}; list again`;
      return new ArcError('Expired', message);
    }
    return new ArcError('ServiceUnavailable', `etcd ended a watch: ${cancel_reason || 'no reason given'}`);
  }

  #previousCompacted(key: string, revision: number): ArcError {
    const message = `the value before revision ${revision} of ${key} is compacted; list again`;
    return new ArcError('Expired', message);
  }
}
