import type { KubeEvent } from '#shared/domain';

/** Events of objects that have not been seen yet, so that nobody knows yet whose they are. */
export interface EarlyEvents {
  add(event: KubeEvent): void;
  /** The Events of an object that is seen now. They are not kept any longer. */
  take(uid: string): KubeEvent[];
}

/** Keeps `most` Events and forgets the oldest first: those of objects that nobody will see must not keep out those that come later. */
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
