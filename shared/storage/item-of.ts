import type { StoredItem, StoreEvent } from './store.ts';

const items = new WeakMap<StoreEvent, StoredItem>();

/** The item that a put made: one object for all who ask, so that what they attach to it is shared. */
export function itemOf(event: StoreEvent & { type: 'put' }): StoredItem {
  let item = items.get(event);
  if (!item) {
    item = { key: event.key, value: event.value, revision: event.revision };
    items.set(event, item);
  }
  return item;
}
