import type { OwnerReference } from '#shared/base/meta';
import type { Node } from './graph.ts';

/** How an owner stands: there for good, gone, or itself waiting for its dependents to go first. */
export type OwnerState = 'solid' | 'absent' | 'waiting';

export type Decision =
  | { do: 'nothing' }
  /** Some owner is left: only the references to the others go. */
  | { do: 'release'; keep: OwnerReference[] }
  | { do: 'delete'; policy: 'Background' | 'Foreground' };

/**
 * Decides about an object with owners as Kubernetes' garbage collector does: it lives while one owner does, and
 * goes when all are gone or waiting for it. `hasDependents` matters only when an owner waits: then its dependents go first.
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

/** Dependents that an owner being deleted in the foreground has to wait for. */
export function blocking(owner: Node, dependents: readonly Node[]): Node[] {
  return dependents.filter((node) =>
    node.owners.some((one) => one.uid === owner.uid && one.blockOwnerDeletion === true),
  );
}
