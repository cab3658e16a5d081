import type { KubeObject } from '#shared/base/meta';
import type { Key } from '../../client.ts';
import type { ApiRequest } from './resources.ts';

/** All objects of a resource. */
export type Collection = Pick<ApiRequest, 'apiVersion' | 'resource'>;

/** A write, as reported by watches. */
export interface Change {
  revision: number;
  collection: Collection;
  /** Undefined for a create. */
  before: KubeObject | undefined;
  /** Undefined for a delete. */
  after: KubeObject | undefined;
  /** The object in the event: its last state with the revision of this write. */
  object: KubeObject;
}

/** An object with its JSON, from which copies are parsed: cheaper than structuredClone, and as lossy as HTTP. */
interface Stored {
  collection: Collection;
  object: KubeObject;
  json: string;
}

/** The objects of the fake API with their history. Copies objects on reads and writes. */
export class ObjectStore {
  readonly listeners = new Set<(change: Change) => void>();
  readonly #objects = new Map<string, Stored>();
  readonly #uids = new Set<string>();
  #history: Change[] = [];
  #compacted = 0;
  #revision: number;

  constructor(revision: number) {
    this.#revision = revision;
  }

  get revision(): number {
    return this.#revision;
  }

  /** Watches and pages from revisions before this one are Expired. */
  get compacted(): number {
    return this.#compacted;
  }

  find(collection: Collection, key: Key): KubeObject | undefined {
    const stored = this.#objects.get(pathOf(collection, key));
    return stored && JSON.parse(stored.json);
  }

  /** Returns the objects of a collection, or of all collections, that `accept` accepts, in order of creation. */
  all(collection?: Collection, accept: (object: KubeObject) => boolean = () => true): KubeObject[] {
    const found: KubeObject[] = [];
    for (const stored of this.#objects.values())
      if (collection === undefined || isSame(stored.collection, collection))
        if (accept(stored.object)) found.push(JSON.parse(stored.json));
    return found;
  }

  /** Stores an object under a new revision. */
  put(collection: Collection, object: KubeObject): KubeObject {
    const path = pathOf(collection, object.metadata);
    const before = this.#objects.get(path)?.object;
    this.#revision += 1;
    const metadata = { ...object.metadata, resourceVersion: String(this.#revision) };
    const json = JSON.stringify({ ...object, metadata });
    const after: KubeObject = JSON.parse(json);
    if (after.metadata.uid !== undefined) this.#uids.add(after.metadata.uid);
    this.#objects.set(path, { collection, object: after, json });
    this.#publish({ revision: this.#revision, collection, before, after, object: after });
    return JSON.parse(json);
  }

  remove(collection: Collection, key: Key): void {
    const path = pathOf(collection, key);
    const before = this.#objects.get(path)?.object;
    if (before === undefined) return;
    this.#objects.delete(path);
    this.#revision += 1;
    const object = { ...before, metadata: { ...before.metadata, resourceVersion: String(this.#revision) } };
    this.#publish({ revision: this.#revision, collection, before, after: undefined, object });
  }

  /** Returns the changes of a collection after a revision, oldest first. */
  changesAfter(collection: Collection, revision: number): Change[] {
    return this.#history.filter(
      (change) => change.revision > revision && isSame(change.collection, collection),
    );
  }

  /** Compacts the history. */
  compact(): void {
    this.#revision += 1;
    this.#compacted = this.#revision;
    this.#history = [];
  }

  /** Returns the predictable uid `uid-<name>`, with a suffix for recreated objects. */
  newUid(name: string): string {
    for (let count = 1; ; count += 1) {
      const uid = count === 1 ? `uid-${name}` : `uid-${name}-${count}`;
      if (!this.#uids.has(uid)) return uid;
    }
  }

  #publish(change: Change): void {
    this.#history.push(change);
    for (const listener of this.listeners) listener(change);
  }
}

export function isSame(a: Collection, b: Collection): boolean {
  return a.apiVersion === b.apiVersion && a.resource === b.resource;
}

function pathOf({ apiVersion, resource }: Collection, { namespace = '', name }: Key): string {
  return `${apiVersion}/${resource}/${namespace}/${name}`;
}
