import type { KubeEvent } from '#shared/domain';

/** Events of objects that have not been observed yet, so that their owner is unknown. */
export interface EarlyEvents {
  add(event: KubeEvent): void;
  /** Removes and returns the Events of an object that has now been observed. */
  take(uid: string): KubeEvent[];
}

/** Keeps up to `most` Events and evicts the oldest, so that Events of objects that are never observed do not block later ones. */
export function createEarlyEvents(most: number): EarlyEvents {
  const kept = new Map<string, KubeEvent>();
  return {
    add(event) {
      const { uid = '' } = event.metadata;
      kept.delete(uid);
      kept.set(uid, event);
      const [oldest = ''] = kept.keys();
      if (kept.size > most) kept.delete(oldest);
    },
    take(uid) {
      const found = [...kept.values()].filter(({ involvedObject }) => involvedObject.uid === uid);
      for (const { metadata } of found) kept.delete(metadata.uid ?? '');
      return found;
    },
  };
}
