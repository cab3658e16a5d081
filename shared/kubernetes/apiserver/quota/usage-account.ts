import type { StoredList, WatchBatch } from '#shared/kubernetes/storage';

/** Number of objects in a collection and size of their stored values. Negative in a change. */
export interface ResourceUsage {
  objects: number;
  bytes: number;
}

/** A reservation for a write in flight. */
export interface Claim {
  /** Ends the reservation. @param revision of the write; undefined if nothing was written */
  settle(revision: number | undefined): void;
}

const nothing: ResourceUsage = { objects: 0, bytes: 0 };

/**
 * The usage per collection (the objects of a kind in a namespace), by key prefix. Updated by the events of the store in constant time, and
 * by writes of this server before their events arrive. Memory is proportional to the number of non-empty collections.
 */
export class UsageAccount {
  /** Usage up to `revision`. */
  #seen = new Tally();
  /** Growth by writes of this server at later revisions. */
  readonly #unseen = new Tally();
  #unseenWrites: { revision: number; collection: string; growth: ResourceUsage }[] = [];
  readonly #inFlight = new Tally();
  #revision = 0;

  /** The revision up to which all events are counted. */
  get revision(): number {
    return this.#revision;
  }

  /** Number of writes of this server whose events have not arrived. */
  get behind(): number {
    return this.#unseenWrites.length;
  }

  /** Returns the usage at `revision`, plus later writes of this server. */
  stored(collection: string): ResourceUsage {
    return sum(this.#seen.of(collection), this.#unseen.of(collection));
  }

  /** Returns the growth reserved by writes in flight. */
  inFlight(collection: string): ResourceUsage {
    return this.#inFlight.of(collection);
  }

  /** Reserves growth for a write. */
  claim(collection: string, growth: ResourceUsage): Claim {
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

  /** Recounts from a list of all objects. @param betweenSlices yields to the event loop */
  async load({ items, revision }: StoredList, betweenSlices: () => Promise<void>): Promise<void> {
    const counted = new Tally();
    for (const [index, { key, value }] of items.entries()) {
      counted.add(collectionOf(key), { objects: 1, bytes: value.byteLength });
      if (index % sliceItems === sliceItems - 1) await betweenSlices();
    }
    this.#seen = counted;
    this.#arrive(revision);
  }

  /** Applies the next events. */
  apply({ events, revision }: WatchBatch): void {
    for (const event of events) {
      const before = event.previous?.value.byteLength;
      const after = event.type === 'put' ? event.value.byteLength : undefined;
      const objects = Number(after !== undefined) - Number(before !== undefined);
      this.#seen.add(collectionOf(event.key), { objects, bytes: (after ?? 0) - (before ?? 0) });
    }
    this.#arrive(revision);
  }

  /** Returns all non-empty collections. */
  entries(): Iterable<[string, ResourceUsage]> {
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

/** Items counted between two yields to the event loop. */
const sliceItems = 10_000;

/** Returns the key prefix of the kind and namespace of an object. */
function collectionOf(key: string): string {
  return key.slice(0, key.lastIndexOf('/') + 1);
}

/** Sums by collection, without zero entries. */
class Tally {
  readonly #uses = new Map<string, ResourceUsage>();

  of(collection: string): ResourceUsage {
    return this.#uses.get(collection) ?? nothing;
  }

  add(collection: string, change: ResourceUsage): void {
    const use = sum(this.of(collection), change);
    if (use.objects === 0 && use.bytes === 0) this.#uses.delete(collection);
    else this.#uses.set(collection, use);
  }

  entries(): Iterable<[string, ResourceUsage]> {
    return this.#uses.entries();
  }
}

function sum(a: ResourceUsage, b: ResourceUsage): ResourceUsage {
  return { objects: a.objects + b.objects, bytes: a.bytes + b.bytes };
}

function negative({ objects, bytes }: ResourceUsage): ResourceUsage {
  return { objects: -objects, bytes: -bytes };
}
