import { isRecord } from '#shared/base/meta';

/**
 * Applies a strategic merge patch (k8s.io/apimachinery, pkg/util/strategicpatch), which kubectl sends for core kinds: a merge patch with
 * `$` directives that merges finalizers and ownerReferences by key. Replaces all other lists, as core kinds without containers declare.
 */
export function strategicMerge(target: unknown, changes: unknown): unknown {
  if (!isRecord(changes)) return changes;
  if (changes.$patch === 'delete') return undefined;
  const replaces = changes.$patch === 'replace' || !isRecord(target);
  const merged = new Map(replaces ? [] : Object.entries(target));
  for (const [key, change] of Object.entries(changes)) {
    if (key.startsWith('$')) applyDirective(merged, key, change);
    else if (change === null) merged.delete(key);
    else set(merged, key, mergeField(key, merged.get(key), change));
  }
  return Object.fromEntries(merged);
}

function set(merged: Map<string, unknown>, key: string, value: unknown): void {
  if (value === undefined) merged.delete(key);
  else merged.set(key, value);
}

/** Applies `$deleteFromPrimitiveList/…` and `$retainKeys`; `$setElementOrder/…` has no effect on the supported lists. */
function applyDirective(merged: Map<string, unknown>, key: string, change: unknown): void {
  const [directive, field = ''] = key.split('/');
  if (directive === '$deleteFromPrimitiveList' && Array.isArray(change)) {
    const list = merged.get(field);
    const removed = new Set<unknown>(change);
    if (Array.isArray(list))
      merged.set(
        field,
        list.filter((one) => !removed.has(one)),
      );
  }
  if (directive === '$retainKeys' && Array.isArray(change)) {
    const kept = new Set<unknown>(change);
    for (const name of [...merged.keys()]) if (!kept.has(name)) merged.delete(name);
  }
}

function mergeField(key: string, old: unknown, change: unknown): unknown {
  if (key === 'finalizers' && Array.isArray(change)) return [...new Set([...asList(old), ...change])];
  if (key === 'ownerReferences' && Array.isArray(change)) return mergeOwners(asList(old), change);
  return strategicMerge(old, change);
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Merges owner references by uid. `$patch: delete` removes a reference, `$patch: replace` clears the list first. */
function mergeOwners(old: unknown[], changes: unknown[]): unknown[] {
  const replace = changes.some((change) => isRecord(change) && change.$patch === 'replace');
  const owners = new Map(replace ? [] : old.map((owner) => [uidOf(owner), owner]));
  for (const change of changes) {
    if (isRecord(change) && change.$patch === 'replace') continue;
    const uid = uidOf(change);
    const merged = strategicMerge(owners.get(uid), change);
    if (merged === undefined) owners.delete(uid);
    else owners.set(uid, merged);
  }
  return [...owners.values()];
}

function uidOf(owner: unknown): unknown {
  return isRecord(owner) ? owner.uid : undefined;
}
