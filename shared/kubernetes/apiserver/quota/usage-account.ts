import type { StoredList, WatchBatch } from '#shared/kubernetes/storage';

/** Objects of a collection and the bytes of their stored values; as a change, both may be negative. */
export interface Use {
  objects: number;
  bytes: number;
}

/** A write in flight that makes its collection grow. */
export interface Claim {
  /** The write has ended: it took `revision`, or undefined where nothing was written. */
  settle(revision: number | undefined): void;
}

const nothing: Use = { objects: 0, bytes: 0 };

/**
 * What each collection holds: all objects of one kind in one namespace, by the prefix of their keys. It is kept up to date by the events
 * of the store, each in constant time, and knows the writes of this server before their events arrive. Its memory grows with the
 * collections that hold something, not with their objects.
 */
export class UsageAccount {
  /** By the events up to `revision`. */
  #seen = new Tally();
  /** Writes of this server that have succeeded at a later revision. */
  readonly #unseen = new Tally();
  #unseenWrites: { revision: number; collection: string; growth: Use }[] = [];
  readonly #inFlight = new Tally();
  #revision = 0;

  /** The revision of the store up to which every event is counted. */
  get revision(): number {
    return this.#revision;
  }

  /** How many writes of this server have succeeded and are still to arrive as events. */
  get behind(): number {
    return this.#unseenWrites.length;
  }

  /** What is stored: exact at `revision`, with the later writes of this server. */
  stored(collection: string): Use {
    return sum(this.#seen.of(collection), this.#unseen.of(collection));
  }

  /** By how much the writes in flight may make it grow. */
  inFlight(collection: string): Use {
    return this.#inFlight.of(collection);
  }

  /** Counts the growth from now on. */
  claim(collection: string, growth: Use): Claim {
    this.#inFlight.add(collection, growth);
    return {
      settle: (revision) => {
        this.#inFlight.add(collection, negative(growth));
        if (revision === undefined || revision <= this.#revision) return;
        this.#unseen.add(collection, growth);
        this.#unseenWrites.push({ revision, collection, growth });
      },
    };
  }

  /** Counts anew, from a list of everything. `betweenSlices` lets others run. */
  async load({ items, revision }: StoredList, betweenSlices: () => Promise<void>): Promise<void> {
    const counted = new Tally();
    for (const [index, { key, value }] of items.entries()) {
      counted.add(collectionOf(key), { objects: 1, bytes: value.byteLength });
      if (index % itemsAtOnce === itemsAtOnce - 1) await betweenSlices();
    }
    this.#seen = counted;
    this.#arrive(revision);
  }

  /** Counts the events that follow those counted before. */
  apply({ events, revision }: WatchBatch): void {
    for (const event of events) {
      const before = event.previous?.value.byteLength;
      const after = event.type === 'put' ? event.value.byteLength : undefined;
      const objects = Number(after !== undefined) - Number(before !== undefined);
      this.#seen.add(collectionOf(event.key), { objects, bytes: (after ?? 0) - (before ?? 0) });
    }
    this.#arrive(revision);
  }

  /** All collections that hold something. */
  entries(): Iterable<[string, Use]> {
    return this.#seen.entries();
  }

  #arrive(revision: number): void {
    this.#revision = revision;
    if (this.#unseenWrites.length === 0) return;
    const later = this.#unseenWrites.filter((write) => write.revision > revision);
    for (const write of this.#unseenWrites)
      if (write.revision <= revision) this.#unseen.add(write.collection, negative(write.growth));
    this.#unseenWrites = later;
  }
}

/** Items of a list that are counted in one turn of the event loop. */
const itemsAtOnce = 10_000;

/** The prefix that a key shares with the objects of its kind and namespace. */
function collectionOf(key: string): string {
  return key.slice(0, key.lastIndexOf('/') + 1);
}

/** Sums by collection. One that is zero takes no memory. */
class Tally {
  readonly #uses = new Map<string, Use>();

  of(collection: string): Use {
    return this.#uses.get(collection) ?? nothing;
  }

  add(collection: string, change: Use): void {
    const use = sum(this.of(collection), change);
    if (use.objects === 0 && use.bytes === 0) this.#uses.delete(collection);
    else this.#uses.set(collection, use);
  }

  entries(): Iterable<[string, Use]> {
    return this.#uses.entries();
  }
}

function sum(one: Use, other: Use): Use {
  return { objects: one.objects + other.objects, bytes: one.bytes + other.bytes };
}

function negative({ objects, bytes }: Use): Use {
  return { objects: -objects, bytes: -bytes };
}
