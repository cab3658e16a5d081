import { hash } from 'node:crypto';
import { type KubeObject, ownerOfKind } from '#shared/base/meta';
import { labels } from '../kinds/well-known.ts';

/**
 * Several bridges divide the objects with duties among themselves: each object belongs to the shard of its root, so an Order and its
 * ArtifactWorkflows share a shard.
 */
export interface Shard {
  /** From 0. */
  index: number;
  /** Number of shards. */
  of: number;
}

/** The only shard, to which everything belongs. */
export const wholeShard: Shard = { index: 0, of: 1 };

/** The fields of an object that decide its shard. */
export type Rooted = Pick<KubeObject, 'kind' | 'metadata'>;

/** Returns the shard of a root object: a constant function of its uid. */
export function shardOf(uid: string, of: number): number {
  // 48 bits of the hash: safe in a double, and far more values than shards.
  return of === 1 ? 0 : Number.parseInt(hash('sha256', uid).slice(0, 12), 16) % of;
}

/** Returns true for an object whose duties belong to the shard. */
export function isInShard(object: Rooted, { index, of }: Shard): boolean {
  return of === 1 || shardOf(rootUid(object), of) === index;
}

/** Returns the uid of the Order that an object belongs to, else its own uid: the partition key of events. */
export function rootUid(object: Rooted): string {
  const { uid = '', labels: selected } = object.metadata;
  // Orders and Endpoints are roots, whatever labels they carry.
  if (object.kind === 'Order' || object.kind === 'Endpoint') return uid;
  return ownerOfKind(object, 'Order')?.uid ?? selected?.[labels.order] ?? uid;
}
