import { LinkedMap } from './linked-map.ts';

/** The owner of waiting work. */
export interface Owner {
  namespace: string;
  /** Distinguishes the Orders of a namespace: a name or a uid. */
  order: string;
}

/** The owner of work without a particular owner. */
export const nobody: Owner = { namespace: '', order: '' };

/**
 * A queue in which namespaces take turns, then the Orders of a namespace; entries of one Order are first in, first out. While k namespaces wait,
 * each is served within k turns, however much the others have enqueued. Every operation takes constant time, except for the namespaces
 * that `dequeue` passes over. Holds one entry per key, so the caller bounds it by the keys.
 */
export class FairQueue<K, T> {
  readonly #owners = new Map<K, Owner>();
  /** The first namespace that may be served is next, with the first entry of its first Order. */
  readonly #namespaces = new LinkedMap<string, LinkedMap<string, LinkedMap<K, T>>>();

  get size(): number {
    return this.#owners.size;
  }

  get(key: K): T | undefined {
    const owner = this.#owners.get(key);
    return owner && this.#namespaces.get(owner.namespace)?.get(owner.order)?.get(key);
  }

  /** Appends an entry to those of its owner. A key that waits already keeps its owner and position, and gets the new value. */
  enqueue(key: K, owner: Owner, value: T): void {
    const { namespace, order } = this.#owners.get(key) ?? owner;
    this.#owners.set(key, { namespace, order });
    const orders = lineOf(this.#namespaces, namespace, () => new LinkedMap<string, LinkedMap<K, T>>());
    lineOf(orders, order, () => new LinkedMap<K, T>()).set(key, value);
  }

  /** Removes and returns the next entry. A namespace that `mayServe` refuses is passed over and keeps its turn. */
  dequeue(mayServe: (namespace: string) => boolean = () => true): [key: K, value: T] | undefined {
    for (const [namespace, orders] of this.#namespaces) {
      if (!mayServe(namespace)) continue;
      const [order = '', entries] = orders.first ?? [];
      const next = entries?.first;
      if (next === undefined) return undefined;
      const [key, value] = next;
      this.delete(key);
      // Their next turns come after those of all others.
      orders.moveToEnd(order);
      this.#namespaces.moveToEnd(namespace);
      return [key, value];
    }
    return undefined;
  }

  /** Returns false if the key is not waiting. */
  delete(key: K): boolean {
    const owner = this.#owners.get(key);
    if (owner === undefined) return false;
    this.#owners.delete(key);
    const { namespace, order } = owner;
    const orders = this.#namespaces.get(namespace);
    const entries = orders?.get(order);
    entries?.delete(key);
    if (entries?.size === 0) orders?.delete(order);
    if (orders?.size === 0) this.#namespaces.delete(namespace);
    return true;
  }

  clear(): void {
    this.#owners.clear();
    this.#namespaces.clear();
  }
}

function lineOf<Line>(lines: LinkedMap<string, Line>, name: string, create: () => Line): Line {
  const known = lines.get(name);
  if (known !== undefined) return known;
  const fresh = create();
  lines.set(name, fresh);
  return fresh;
}
