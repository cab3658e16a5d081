import type { Kind, KnownStates } from '#shared/kube';
import type { KubeObject } from '#shared/meta';
import { Codec } from './codec.ts';
import { HashIndex, hashOf } from './hash-index.ts';
import { packed, unpacked } from './packing.ts';
import { Slab } from './slab.ts';

/** No place in the slab. */
const gone = 2 ** 32 - 1;

/** The number of an object in the table, for as long as it is there. */
export type Id = number;

/**
 * The newest state of every object that the bridge watches. There may be millions, and most of them are at rest: each is kept as a short text
 * beside the heap, and made an object again when somebody asks for it. What is given out is read-only.
 */
export class ObjectTable {
  readonly #codec = new Codec();
  readonly #slab = new Slab();
  /** By id: where its text is. */
  #places = new Uint32Array(1_024).fill(gone);
  /** By id: the number of its kind, so that who walks through one kind need not read the others. */
  #kinds = new Uint8Array(1_024);
  /** Ids below this one have been given. */
  #next: Id = 0;
  readonly #numbers = new Map<string, number>();
  readonly #free: Id[] = [];
  readonly #leaving = new Set<Id>();
  readonly #byName = new HashIndex();
  readonly #byUid = new HashIndex();
  /** What was asked for last is kept as it is: so many objects, and as many before them. */
  readonly #mostWarm: number;
  #warm = new Map<Id, KubeObject>();
  #cooling = new Map<Id, KubeObject>();

  constructor(mostWarm = 4_096) {
    this.#mostWarm = mostWarm;
  }

  /** Takes the newest state of an object, by its kind and name. The very object that is there already changes nothing. */
  put(object: KubeObject): Id {
    const { kind, metadata } = object;
    const known = this.named(kind, metadata.namespace, metadata.name);
    if (known !== undefined) this.#leaving.delete(known);
    if (known !== undefined && this.#warm.get(known) === object) return known;
    const id = known ?? this.#free.pop() ?? this.#newId();
    const before = known === undefined ? undefined : this.get(known);
    const uid = metadata.uid ?? '';
    if (before === undefined) this.#byName.add(hashOf(nameKey(object)), id);
    if (before !== undefined && before.metadata.uid !== uid)
      this.#byUid.delete(hashOf(before.metadata.uid ?? ''), id);
    if (before === undefined || before.metadata.uid !== uid) this.#byUid.add(hashOf(uid), id);
    if (known !== undefined) this.#slab.free(this.#places[known] ?? gone);
    this.#places[id] = this.#slab.add(packed(this.#codec.encode(object)));
    this.#noteKind(id, kind);
    this.#keepWarm(id, object);
    return id;
  }

  remove(id: Id): void {
    const object = this.get(id);
    if (object === undefined) return;
    this.#byName.delete(hashOf(nameKey(object)), id);
    this.#byUid.delete(hashOf(object.metadata.uid ?? ''), id);
    this.#slab.free(this.#places[id] ?? gone);
    this.#places[id] = gone;
    this.#free.push(id);
    this.#leaving.delete(id);
    this.#warm.delete(id);
    this.#cooling.delete(id);
  }

  get(id: Id): KubeObject | undefined {
    const warm = this.#warm.get(id);
    if (warm !== undefined) return warm;
    const object = this.#cooling.get(id) ?? this.#read(id);
    if (object !== undefined) this.#keepWarm(id, object);
    return object;
  }

  /** The id of the object with this name, and of no other. */
  named(kind: string, namespace: string | undefined, name: string): Id | undefined {
    const key = nameKey({ kind, metadata: { name, ...(namespace === undefined ? {} : { namespace }) } });
    for (const id of this.#byName.get(hashOf(key))) {
      const object = this.get(id);
      if (object !== undefined && nameKey(object) === key) return id;
    }
    return undefined;
  }

  withUid(uid: string): Id | undefined {
    for (const id of this.#byUid.get(hashOf(uid))) if (this.get(id)?.metadata.uid === uid) return id;
    return undefined;
  }

  /** All that are there now, and some that come meanwhile. */
  *ids(): Generator<Id, void, undefined> {
    for (let id = 0; id < this.#next; id += 1) if (this.#places[id] !== gone) yield id;
  }

  /**
   * The objects of one kind, for who lists and watches it. What is deleted there is hidden, and goes when whoever refers to it has called
   * `remove`: until then its id means nothing else.
   */
  ofKind({ kind, namespaced }: Pick<Kind, 'kind' | 'namespaced'>): KnownStates<KubeObject> {
    const idAt = (key: string) => {
      const slash = namespaced ? key.indexOf('/') : -1;
      return this.named(kind, namespaced ? key.slice(0, slash) : undefined, key.slice(slash + 1));
    };
    const stateOf = (object: KubeObject) => {
      const { uid = '', resourceVersion = '' } = object.metadata;
      return { uid, resourceVersion, value: object };
    };
    return {
      get: (key) => {
        const id = idAt(key);
        const object = id === undefined || this.#leaving.has(id) ? undefined : this.get(id);
        return object && stateOf(object);
      },
      set: (_key, { value }) => this.put(value),
      delete: (key) => {
        const id = idAt(key);
        if (id !== undefined) this.#leaving.add(id);
      },
      entries: () => this.#entries(kind, namespaced, stateOf),
    };
  }

  *#entries<K>(
    kind: string,
    namespaced: boolean,
    stateOf: (object: KubeObject) => K,
  ): Generator<[string, K], void, undefined> {
    const number = this.#numbers.get(kind);
    for (const id of this.ids()) {
      if (this.#kinds[id] !== number || this.#leaving.has(id)) continue;
      const object = this.#read(id);
      if (object === undefined) continue;
      const { namespace = '', name } = object.metadata;
      yield [namespaced ? `${namespace}/${name}` : name, stateOf(object)];
    }
  }

  #newId(): Id {
    const id = this.#next;
    this.#next += 1;
    if (id === this.#places.length) {
      const [places, kinds] = [this.#places, this.#kinds];
      const room = Math.ceil(id * 1.25);
      this.#places = new Uint32Array(room).fill(gone);
      this.#places.set(places);
      this.#kinds = new Uint8Array(room);
      this.#kinds.set(kinds);
    }
    return id;
  }

  #noteKind(id: Id, kind: string): void {
    const number = this.#numbers.get(kind) ?? this.#numbers.size;
    this.#numbers.set(kind, number);
    this.#kinds[id] = number;
  }

  #read(id: Id): KubeObject | undefined {
    const place = this.#places[id];
    if (place === undefined || place === gone) return undefined;
    return this.#codec.decode(unpacked(this.#slab.get(place))) as KubeObject;
  }

  #keepWarm(id: Id, object: KubeObject): void {
    if (this.#warm.size >= this.#mostWarm) {
      this.#cooling = this.#warm;
      this.#warm = new Map();
    }
    this.#warm.set(id, object);
  }
}

function nameKey({ kind, metadata }: Pick<KubeObject, 'kind' | 'metadata'>): string {
  return `${kind}/${metadata.namespace ?? ''}/${metadata.name}`;
}
