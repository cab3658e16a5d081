import { hash } from 'node:crypto';
import { type KubeObject, ownerOfKind } from '#shared/base/meta';
import { labels } from '../kinds/well-known.ts';

/**
 * Several bridges divide the objects that have duties among them: each object belongs to the shard of its root, so that an Order and its
 * ArtifactWorkflows are in the same one.
 */
export interface Shard {
  /** From 0. */
  index: number;
  /** How many shards there are. */
  of: number;
}

/** The only shard, to which everything belongs. */
export const wholeShard: Shard = { index: 0, of: 1 };

/** Just enough of an object to say which shard it is of. */
export type Rooted = Pick<KubeObject, 'kind' | 'metadata'>;

/** The shard of a root object, by its uid: the same wherever and whenever it is asked. */
export function shardOf(uid: string, of: number): number {
  // 48 bits of the hash: as many as a number holds exactly, and far more than there are shards.
  return of === 1 ? 0 : Number.parseInt(hash('sha256', uid).slice(0, 12), 16) % of;
}

/** True for an object whose duties are of this shard. */
export function isInShard(object: Rooted, { index, of }: Shard): boolean {
  return of === 1 || shardOf(rootUid(object), of) === index;
}

/** Uid of the Order that an object belongs to, else its own: what keeps the events of one Order together. */
export function rootUid(object: Rooted): string {
  const { uid = '', labels: selected } = object.metadata;
  // Both are roots, whatever labels they carry.
  if (object.kind === 'Order' || object.kind === 'Endpoint') return uid;
  return ownerOfKind(object, 'Order')?.uid ?? selected?.[labels.order] ?? uid;
}
