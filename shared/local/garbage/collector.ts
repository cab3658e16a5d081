import type { Logger } from 'pino';
import { createWorkQueue, jittered, pause, type WorkQueue } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import type { KubeObject, OwnerReference } from '#shared/base/meta';
import type { KindDefinition } from '#shared/kubernetes/apiserver';
import { type Kind, type KubeClient, listWatch } from '#shared/kubernetes/client';
import { namespaceFinalizer } from '../kinds/core.ts';
import { blocking, decide, type OwnerState } from './decide.ts';
import { expiredEvents, seenOf } from './expiry.ts';
import { createGraph, type Graph, isNamespace, type Node, nodeOf } from './graph.ts';

/** The part of a kind's definition that the collector uses; the API server's definitions fit. */
export type StoredKind = Pick<KindDefinition, 'group' | 'version' | 'kind' | 'plural' | 'scope'>;

export interface GarbageCollectorOptions {
  api: KubeClient;
  /** Every stored kind; excludes access reviews and the like. */
  kinds: readonly StoredKind[];
  signal: AbortSignal;
  log: Logger;
  /** Mean interval between two sweeps over the known objects (default 60 s, jittered). */
  sweepMs?: number;
  now?: () => Date;
  random?: () => number;
}

const workers = 8;
const mine = ['foregroundDeletion', 'orphan', namespaceFinalizer];

/**
 * Deletes objects whose owners are all gone, completes foreground and orphaning deletions, empties terminating namespaces,
 * and removes Events after an hour. Driven by watches; a sweep over the known objects repairs what no watch event
 * caused. Deletes nothing before every kind was listed, and never because of the watch alone: the server is asked whether an owner
 * is gone. `done` ends with the signal.
 */
export function startGarbageCollector(options: GarbageCollectorOptions): { done: Promise<void> } {
  const { api, signal, log } = options;
  const kinds = options.kinds.map(kindOf);
  const graph = createGraph();
  const early = new Set<string>();
  let queue: WorkQueue | undefined;
  const add = (uid: string) => (queue ? queue.add(uid) : early.add(uid));

  const loops = kinds.map((kind) => {
    const synced = Promise.withResolvers<void>();
    const loop = listWatch<KubeObject, Node>(
      api,
      kind,
      {
        keep: (object) => nodeOf(kind, object, seenOf(kind, object)),
        onChange(change) {
          if (change.after === undefined) {
            graph.remove(change.before.uid);
            for (const uid of affected(graph, change.before)) add(uid);
            return;
          }
          const node = nodeOf(kind, change.after, seenOf(kind, change.after));
          graph.put(node);
          if (node.deleting || node.owners.length > 0) add(node.uid);
        },
        onSync: () => synced.resolve(),
        onFailure: (error) =>
          log.warn(
            { err: error, kind: kind.kind },
            'the garbage collector cannot watch a kind: it tries again',
          ),
      },
      { signal, ...(options.random && { random: options.random }) },
    );
    return { synced: synced.promise, done: loop.done };
  });

  const run = async () => {
    const ended = new Promise<void>((resolve) =>
      signal.addEventListener('abort', () => resolve(), { once: true }),
    );
    await Promise.race([ended, Promise.all(loops.map((loop) => loop.synced))]);
    if (signal.aborted) return;
    const collector = createCollector(api, kinds, signal, graph, add);
    queue = createWorkQueue((uid) => collector.process(uid), {
      workers,
      signal,
      onFailure: (uid, caught) => {
        const node = graph.get(uid);
        const level = ArcError.is(caught, 'Conflict', 'NotFound') ? 'debug' : 'warn';
        log[level](
          { err: caught, kind: node?.kind.kind, name: node?.name },
          'garbage collection failed: it is tried again',
        );
      },
    });
    for (const uid of early) queue.add(uid);
    early.clear();
    await Promise.all([queue.done, sweep(options, graph, queue)]);
  };
  return { done: Promise.all([run(), ...loops.map((loop) => loop.done)]).then(() => undefined) };
}

/** Returns the objects to check after a deletion: its dependents, owners that wait for it, and the namespace that waits to be empty. */
function affected(graph: Graph, gone: Node): string[] {
  const waiting = gone.owners.map((owner) => owner.uid).filter((uid) => graph.get(uid)?.deleting === true);
  const namespace = gone.namespace === undefined ? undefined : graph.namespaceNamed(gone.namespace);
  return [
    ...graph.dependents(gone.uid).map((node) => node.uid),
    ...waiting,
    ...(namespace?.deleting ? [namespace.uid] : []),
  ];
}

async function sweep(options: GarbageCollectorOptions, graph: Graph, queue: WorkQueue): Promise<void> {
  const { api, signal, log, sweepMs = 60_000, random = Math.random, now = () => new Date() } = options;
  while (!signal.aborted) {
    await pause(jittered(sweepMs, random), signal);
    if (signal.aborted) return;
    for (const node of graph.nodes()) {
      const orphaned = node.owners.some((owner) => graph.get(owner.uid) === undefined);
      if (orphaned || (node.deleting && node.finalizers.some((name) => mine.includes(name))))
        queue.add(node.uid);
    }
    for (const event of expiredEvents(graph.nodes(), now())) {
      try {
        await api.delete(event.kind, keyOf(event), { uid: event.uid }, signal);
      } catch (caught) {
        if (!signal.aborted)
          log.warn({ err: caught, name: event.name }, 'an expired Event could not be deleted');
      }
    }
  }
}

function keyOf(node: Node): { name: string; namespace?: string } {
  return { name: node.name, ...(node.namespace !== undefined && { namespace: node.namespace }) };
}

function createCollector(
  api: KubeClient,
  kinds: readonly Kind[],
  signal: AbortSignal,
  graph: Graph,
  add: (uid: string) => void,
) {
  const stateOf = async (node: Node, owner: OwnerReference): Promise<OwnerState> => {
    const known = graph.get(owner.uid);
    if (known) return known.deleting && known.finalizers.includes('foregroundDeletion') ? 'waiting' : 'solid';
    const kind = kinds.find(
      (one) => one.kind === owner.kind && groupOf(one.apiVersion) === groupOf(owner.apiVersion),
    );
    // An owner of a kind that is not served here may exist elsewhere.
    if (kind === undefined) return 'solid';
    const namespace = kind.namespaced ? node.namespace : undefined;
    if (kind.namespaced && namespace === undefined) return 'solid';
    const live = await api.get(
      kind,
      { name: owner.name, ...(namespace !== undefined && { namespace }) },
      signal,
    );
    return live?.metadata.uid === owner.uid ? 'solid' : 'absent';
  };

  const checkOwners = async (node: Node) => {
    const owners = await Promise.all(
      node.owners.map(async (owner) => ({ owner, state: await stateOf(node, owner) })),
    );
    const decision = decide(owners, graph.dependents(node.uid).length > 0);
    if (decision.do === 'release') await patchMetadata(node, () => ({ ownerReferences: decision.keep }));
    if (decision.do === 'delete') {
      await api.delete(node.kind, keyOf(node), { uid: node.uid, propagationPolicy: decision.policy }, signal);
    }
  };

  /** Reads the object again, so that the write is guarded by the version it is based on; writes nothing if the object is gone. */
  const patchMetadata = async (node: Node, change: (object: KubeObject) => object) => {
    const live = await api.get(node.kind, keyOf(node), signal);
    if (live?.metadata.uid !== node.uid) return;
    const { resourceVersion } = live.metadata;
    const metadata = { resourceVersion, ...change(live) };
    await api.mergePatch(node.kind, keyOf(node), { metadata }, undefined, signal);
  };

  const removeFinalizer = (node: Node, name: string) =>
    patchMetadata(node, (live) => ({
      finalizers: (live.metadata.finalizers ?? []).filter((one) => one !== name),
    }));

  const finishForeground = async (node: Node) => {
    const dependents = graph.dependents(node.uid);
    for (const dependent of dependents) if (!dependent.deleting) add(dependent.uid);
    // Their disappearance requeues this object.
    if (blocking(node, dependents).length === 0) await removeFinalizer(node, 'foregroundDeletion');
  };

  const finishOrphaning = async (node: Node) => {
    for (const dependent of graph.dependents(node.uid)) {
      await patchMetadata(dependent, (live) => ({
        ownerReferences: (live.metadata.ownerReferences ?? []).filter((owner) => owner.uid !== node.uid),
      }));
    }
    await removeFinalizer(node, 'orphan');
  };

  const finishNamespace = async (node: Node) => {
    let left = 0;
    for (const content of graph.contents(node.name)) {
      left += 1;
      if (!content.deleting) await api.delete(content.kind, keyOf(content), { uid: content.uid }, signal);
    }
    if (left > 0) return;
    // The watches may lag behind: only the server knows that the namespace is empty.
    for (const kind of kinds.filter((one) => one.namespaced)) {
      const { items } = await api.list(kind, { namespace: node.name, limit: 1 }, signal);
      if (items.length > 0)
        throw new ArcError('Conflict', `namespace ${node.name} still holds ${kind.plural}`);
    }
    await removeFinalizer(node, namespaceFinalizer);
  };

  return {
    async process(uid: string): Promise<void> {
      const node = graph.get(uid);
      if (node === undefined) return;
      if (!node.deleting) return checkOwners(node);
      if (node.finalizers.includes('orphan')) return finishOrphaning(node);
      if (node.finalizers.includes('foregroundDeletion')) await finishForeground(node);
      if (isNamespace(node) && node.finalizers.includes(namespaceFinalizer)) await finishNamespace(node);
    },
  };
}

function kindOf({ group, version, kind, plural, scope }: StoredKind): Kind {
  return {
    apiVersion: group === '' ? version : `${group}/${version}`,
    kind,
    plural,
    namespaced: scope === 'Namespaced',
  };
}

function groupOf(apiVersion: string): string {
  return apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
}
