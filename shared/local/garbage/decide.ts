import type { OwnerReference } from '#shared/base/meta';
import type { Node } from './graph.ts';

/** The state of an owner: alive, gone, or waiting for its dependents to be deleted first. */
export type OwnerState = 'solid' | 'absent' | 'waiting';

export type Decision =
  | { do: 'nothing' }
  /** An owner is left: only the references to the others are removed. */
  | { do: 'release'; keep: OwnerReference[] }
  | { do: 'delete'; policy: 'Background' | 'Foreground' };

/**
 * Decides about an object with owners as Kubernetes' garbage collector does: it lives while one owner lives, and
 * is deleted when all are gone or waiting for it. `hasDependents` matters only while an owner waits: then its dependents go first.
 */
export function decide(
  owners: readonly { owner: OwnerReference; state: OwnerState }[],
  hasDependents: boolean,
): Decision {
  if (owners.length === 0) return { do: 'nothing' };
  const solid = owners.filter((one) => one.state === 'solid');
  if (solid.length === owners.length) return { do: 'nothing' };
  if (solid.length > 0) return { do: 'release', keep: solid.map((one) => one.owner) };
  const waited = owners.some((one) => one.state === 'waiting');
  return { do: 'delete', policy: waited && hasDependents ? 'Foreground' : 'Background' };
}

/** Returns the dependents that an owner in foreground deletion has to wait for. */
export function blocking(owner: Node, dependents: readonly Node[]): Node[] {
  return dependents.filter((node) =>
    node.owners.some((one) => one.uid === owner.uid && one.blockOwnerDeletion === true),
  );
}
