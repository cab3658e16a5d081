import { describe } from 'vitest';
import { describeLists } from './store-lists.ts';
import { describeModel } from './store-model.ts';
import type { OpenStore } from './store-support.ts';
import { describeWatches } from './store-watches.ts';
import { describeWrites } from './store-writes.ts';

export type { OpenStore, StoreUnderTest } from './store-support.ts';

/**
 * What every store behind the Store interface has to do; `open` gives an empty one each time. One that takes keys of ASCII characters
 * only has to refuse others.
 */
export function describeStore(name: string, open: OpenStore, keys: 'any' | 'ascii' = 'any'): void {
  describe(name, () => {
    describeWrites(open);
    describeLists(open, keys);
    describeWatches(open);
    describeModel(open, keys);
  });
}
