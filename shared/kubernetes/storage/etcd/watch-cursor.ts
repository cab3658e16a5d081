import type { IEvent, IKeyValue, IWatchCreateRequest, IWatchResponse } from 'etcd3';
import { ArcError } from '#shared/base/errors';
import type { StoreEvent, WatchBatch } from '../interface/store.ts';
import { type Keyspace, revisionOf } from './keyspace.ts';

/**
 * Where a watch is, independent of the connection it runs over. The position moves only with events that were handed
 * out and with progress that etcd reports: the revision in the header of other messages is the store's, and events
 * before it may still be on their way. etcd3's own watcher loses events there: docs/decisions/0006-raw-etcd-stubs.md.
 */
export class WatchCursor {
  readonly #keyspace: Keyspace;
  readonly #prefix: string;
  #position: number;
  /** Events of the last revision of a fragment: the next fragment may hold more of that revision. */
  #held: StoreEvent[] = [];

  constructor(keyspace: Keyspace, prefix: string, after: number) {
    this.#keyspace = keyspace;
    this.#prefix = prefix;
    this.#position = after;
  }

  /** The start of a watch on a new connection: every event that was not handed out. */
  resume(): IWatchCreateRequest {
    this.#held = [];
    return {
      ...this.#keyspace.range(this.#prefix),
      start_revision: this.#position + 1,
      prev_kv: true,
      progress_notify: true,
      fragment: true,
    };
  }

  /**
   * The batch a message makes, if any. Rejects with Expired when the position is compacted, and with ServiceUnavailable
   * when etcd ended the watch for another reason.
   */
  take(message: IWatchResponse): WatchBatch | undefined {
    if (message.canceled) throw this.#canceled(message);
    if (message.created) return undefined;
    if (message.events.length === 0) return this.#progress(revisionOf(message.header.revision));
    const events = [...this.#held, ...message.events.map((event) => this.#event(event))];
    this.#held = [];
    if (message.fragment) {
      const last = events.at(-1)?.revision;
      const whole = events.findIndex((event) => event.revision === last);
      this.#held = events.splice(whole);
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
    if (this.#held.length > 0 || revision <= this.#position) return undefined;
    this.#position = revision;
    return { events: [], revision };
  }

  #event({ type, kv, prev_kv }: IEvent): StoreEvent {
    // The stubs fill a missing message in with null, which their types do not say.
    const before: IKeyValue | null = prev_kv;
    const previous = before ? this.#keyspace.item(before) : undefined;
    const { key, value, revision } = this.#keyspace.item(kv);
    if (type === 'Put') {
      if (!previous && revisionOf(kv.create_revision) !== revision) throw this.#forgotten(key, revision);
      return { type: 'put', key, value, revision, previous };
    }
    if (!previous) throw this.#forgotten(key, revision);
    return { type: 'delete', key, revision, previous };
  }

  #canceled({ compact_revision, cancel_reason }: IWatchResponse): ArcError {
    const compacted = revisionOf(compact_revision);
    if (compacted > 0 || cancel_reason.includes('compacted')) {
      const message = `revision ${this.#position} is compacted: the oldest that can be watched from is ${compacted}; list again`;
      return new ArcError('Expired', message);
    }
    return new ArcError('ServiceUnavailable', `etcd ended a watch: ${cancel_reason || 'it gave no reason'}`);
  }

  #forgotten(key: string, revision: number): ArcError {
    const message = `what revision ${revision} replaced at ${key} is compacted; list again`;
    return new ArcError('Expired', message);
  }
}
