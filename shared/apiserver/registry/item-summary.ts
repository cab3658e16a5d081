import type { StoredItem } from '#shared/storage';
import type { KindDefinition } from '../kinds/definition.ts';
import { columnValues } from '../printers/table.ts';
import { type Selectable, type Selection, selectableOf } from './selectors.ts';
import { decodeObject } from './stored-object.ts';

/** What lists and watches ask about a stored object again and again: read once, kept for as long as the object is. */
export interface ItemSummary extends Selectable {
  /** What its columns show, before dates become ages. */
  columns: readonly unknown[];
  name: string;
}

const known = new WeakMap<StoredItem, ItemSummary>();

/** The first to ask pays for a parse. Throws InternalError for a value that is no object. */
export function summaryOf(definition: KindDefinition, item: StoredItem): ItemSummary {
  let facts = known.get(item);
  if (!facts) {
    const object = decodeObject(item);
    facts = {
      ...selectableOf(definition, object),
      columns: columnValues(definition, object),
      name: object.metadata.name,
    };
    known.set(item, facts);
  }
  return facts;
}

/** Whether a selection includes a stored object. */
export function isSelected(definition: KindDefinition, selected: Selection, item: StoredItem): boolean {
  return selected.everything || selected.matches(summaryOf(definition, item));
}
