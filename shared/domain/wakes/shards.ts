import { hash } from 'node:crypto';
import type { WakeObject } from './change.ts';
import { rootUid } from './wakes.ts';

/**
 * Several bridges divide the objects that wake among them: each object belongs to the shard of its root, so that an Order and its
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

/** The shard of a root object, by its uid: the same wherever and whenever it is asked. */
export function shardOf(uid: string, of: number): number {
  // 48 bits of the hash: as many as a number holds exactly, and far more than there are shards.
  return of === 1 ? 0 : Number.parseInt(hash('sha256', uid).slice(0, 12), 16) % of;
}

/** True for an object that is woken in this shard. */
export function isInShard(object: WakeObject, { index, of }: Shard): boolean {
  return of === 1 || shardOf(rootUid(object), of) === index;
}
