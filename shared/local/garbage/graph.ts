import type { KubeObject, OwnerReference } from '#shared/base/meta';
import type { Kind } from '#shared/kubernetes/client';

/** The collector's record of an object: its identity, owners and finalizers. */
export interface Node {
  kind: Kind;
  uid: string;
  name: string;
  namespace: string | undefined;
  owners: readonly OwnerReference[];
  finalizers: readonly string[];
  deleting: boolean;
  /** For objects that expire (Events): their last occurrence, ISO. */
  seen: string | undefined;
}

/** All objects by uid, with their dependents. */
export interface Graph {
  put(node: Node): void;
  remove(uid: string): void;
  get(uid: string): Node | undefined;
  nodes(): IterableIterator<Node>;
  /** Objects that name this uid as an owner. */
  dependents(uid: string): Node[];
  /** Objects in a namespace. */
  contents(namespace: string): Node[];
  /** The Namespace object of this name. */
  namespaceNamed(name: string): Node | undefined;
}

export function isNamespace(node: Node): boolean {
  return node.kind.apiVersion === 'v1' && node.kind.kind === 'Namespace';
}

export function nodeOf(kind: Kind, object: KubeObject, seen?: string): Node {
  const {
    uid = '',
    name,
    namespace,
    ownerReferences = [],
    finalizers = [],
    deletionTimestamp,
  } = object.metadata;
  const deleting = deletionTimestamp !== undefined;
  return { kind, uid, name, namespace, owners: ownerReferences, finalizers, deleting, seen };
}

export function createGraph(): Graph {
  const nodes = new Map<string, Node>();
  const byOwner = new Map<string, Set<string>>();
  const byNamespace = new Map<string, Set<string>>();
  const namespaces = new Map<string, string>();
  const found = (uids: Iterable<string> = []) =>
    [...uids].map((uid) => nodes.get(uid)).filter((node) => node !== undefined);

  const unlink = (node: Node) => {
    for (const owner of node.owners) drop(byOwner, owner.uid, node.uid);
    if (node.namespace !== undefined) drop(byNamespace, node.namespace, node.uid);
  };
  return {
    put(node) {
      const old = nodes.get(node.uid);
      if (old) unlink(old);
      nodes.set(node.uid, node);
      if (isNamespace(node)) namespaces.set(node.name, node.uid);
      for (const owner of node.owners) add(byOwner, owner.uid, node.uid);
      if (node.namespace !== undefined) add(byNamespace, node.namespace, node.uid);
    },
    remove(uid) {
      const old = nodes.get(uid);
      if (old) unlink(old);
      if (old && namespaces.get(old.name) === uid && isNamespace(old)) namespaces.delete(old.name);
      nodes.delete(uid);
    },
    get: (uid) => nodes.get(uid),
    nodes: () => nodes.values(),
    dependents: (uid) => found(byOwner.get(uid)),
    contents: (namespace) => found(byNamespace.get(namespace)),
    namespaceNamed: (name) => nodes.get(namespaces.get(name) ?? ''),
  };
}

function add(index: Map<string, Set<string>>, key: string, value: string): void {
  const present = index.get(key);
  if (present) present.add(value);
  else index.set(key, new Set([value]));
}

function drop(index: Map<string, Set<string>>, key: string, value: string): void {
  const present = index.get(key);
  present?.delete(value);
  if (present?.size === 0) index.delete(key);
}
