import { ArcError } from '#shared/errors';
import type { DeleteOptions, Key, Kind, KubeClient, WatchEvent, WatchOptions } from '#shared/kube';
import { applyMergePatch, isoSeconds, type KubeObject, type ObjectMeta } from '#shared/meta';

interface Watcher {
  kind: Kind;
  push(event: WatchEvent<KubeObject>): void;
}

/** An API server in memory, for tests: resourceVersions, finalizers, preconditions, merge patch and watches as the real one. */
export interface FakeApi extends KubeClient {
  /** Every object there is. */
  all(): KubeObject[];
  /** Called before each request; what it throws is what the caller gets. */
  intercept: (verb: string, kind: Kind, key: Partial<Key>) => void;
}

export function createFakeApi(): FakeApi {
  const objects = new Map<string, KubeObject>();
  const watchers = new Set<Watcher>();
  const history: { kind: Kind; revision: number; event: WatchEvent<KubeObject> }[] = [];
  let revision = 0;
  const id = (kind: Kind, key: Key) => `${kind.apiVersion}/${kind.plural}/${key.namespace ?? ''}/${key.name}`;
  const keyOf = (object: KubeObject): Key => object.metadata as Key;

  const publish = (kind: Kind, type: 'ADDED' | 'MODIFIED' | 'DELETED', object: KubeObject) => {
    const event = { type, object: structuredClone(object) };
    history.push({ kind, revision, event });
    for (const watcher of watchers) if (watcher.kind.plural === kind.plural) watcher.push(event);
  };
  const put = (kind: Kind, object: KubeObject): KubeObject => {
    const known = objects.has(id(kind, keyOf(object)));
    revision += 1;
    const stored = structuredClone(object);
    stored.metadata.resourceVersion = String(revision);
    const gone = stored.metadata.deletionTimestamp !== undefined && !stored.metadata.finalizers?.length;
    if (gone) objects.delete(id(kind, keyOf(stored)));
    else objects.set(id(kind, keyOf(stored)), stored);
    publish(kind, gone ? 'DELETED' : known ? 'MODIFIED' : 'ADDED', stored);
    return structuredClone(stored);
  };
  const find = (kind: Kind, key: Key): KubeObject => {
    const found = objects.get(id(kind, key));
    if (!found) throw new ArcError('NotFound', `${kind.plural} "${key.name}" not found`);
    return found;
  };
  const guard = (object: KubeObject, wanted: { uid?: string; resourceVersion?: string }) => {
    if (wanted.uid !== undefined && wanted.uid !== object.metadata.uid)
      throw new ArcError('Conflict', 'another uid');
    if (wanted.resourceVersion !== undefined && wanted.resourceVersion !== object.metadata.resourceVersion) {
      throw new ArcError('Conflict', 'changed in between');
    }
  };

  const api: FakeApi = {
    intercept: () => undefined,
    traced: () => api,
    all: () => [...objects.values()].map((object) => structuredClone(object)),
    async get<T extends KubeObject>(kind: Kind<T>, key: Key) {
      api.intercept('get', kind, key);
      return structuredClone(objects.get(id(kind, key))) as T | undefined;
    },
    async list<T extends KubeObject>(kind: Kind<T>, options: { namespace?: string } = {}) {
      api.intercept('list', kind, {});
      const prefix = `${kind.apiVersion}/${kind.plural}/`;
      const items = [...objects.entries()]
        .filter(([at]) => at.startsWith(prefix))
        .map(([, object]) => structuredClone(object) as T)
        .filter(
          (object) => options.namespace === undefined || object.metadata.namespace === options.namespace,
        );
      return { items, resourceVersion: String(revision) };
    },
    async create<T extends KubeObject>(kind: Kind<T>, object: T) {
      api.intercept('create', kind, object.metadata);
      if (objects.has(id(kind, keyOf(object)))) throw new ArcError('AlreadyExists', object.metadata.name);
      const metadata: ObjectMeta = {
        uid: `uid-${object.metadata.name}`,
        creationTimestamp: isoSeconds(new Date()),
        ...object.metadata,
      };
      return put(kind, { ...object, metadata }) as T;
    },
    async replace<T extends KubeObject>(kind: Kind<T>, object: T) {
      api.intercept('replace', kind, object.metadata);
      const { resourceVersion } = object.metadata;
      guard(find(kind, keyOf(object)), resourceVersion === undefined ? {} : { resourceVersion });
      return put(kind, object) as T;
    },
    async mergePatch<T extends KubeObject>(kind: Kind<T>, key: Key, patch: object) {
      api.intercept('patch', kind, key);
      const old = find(kind, key);
      guard(old, (patch as Partial<KubeObject>).metadata?.resourceVersion ? { ...pickVersion(patch) } : {});
      const merged = applyMergePatch(old, patch) as T;
      return put(kind, merged) as T;
    },
    async delete(kind: Kind, key: Key, options: DeleteOptions = {}) {
      api.intercept('delete', kind, key);
      const old = objects.get(id(kind, key));
      if (!old) return false;
      guard(old, options);
      const policy = { Foreground: ['foregroundDeletion'], Orphan: ['orphan'], Background: [] as string[] };
      const finalizers = [
        ...(old.metadata.finalizers ?? []),
        ...policy[options.propagationPolicy ?? 'Background'],
      ];
      if (old.metadata.deletionTimestamp !== undefined && options.propagationPolicy === undefined)
        return true;
      const deletionTimestamp = old.metadata.deletionTimestamp ?? isoSeconds(new Date());
      put(kind, { ...old, metadata: { ...old.metadata, finalizers, deletionTimestamp } });
      return true;
    },
    watch<T extends KubeObject>(kind: Kind<T>, options: WatchOptions, signal: AbortSignal) {
      const missed = history
        .filter((one) => one.kind.plural === kind.plural && one.revision > Number(options.resourceVersion))
        .map((one) => one.event);
      return follow(kind, watchers, missed, signal) as AsyncIterable<WatchEvent<T>>;
    },
  };
  return api;
}

async function* follow(
  kind: Kind,
  watchers: Set<Watcher>,
  pending: WatchEvent<KubeObject>[],
  signal: AbortSignal,
): AsyncGenerator<WatchEvent<KubeObject>> {
  let wake = () => {};
  const watcher: Watcher = {
    kind,
    push(event) {
      pending.push(event);
      wake();
    },
  };
  watchers.add(watcher);
  const stop = () => wake();
  signal.addEventListener('abort', stop);
  try {
    while (!signal.aborted) {
      const next = pending.shift();
      if (next) yield next;
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  } finally {
    signal.removeEventListener('abort', stop);
    watchers.delete(watcher);
  }
}

function pickVersion(patch: object): { resourceVersion?: string } {
  const { resourceVersion } = (patch as KubeObject).metadata;
  return resourceVersion === undefined ? {} : { resourceVersion };
}
