import type { StoredItem } from '#shared/storage';
import type { KindDefinition } from '../kinds/definition.ts';
import { columnValues } from '../printers/table.ts';
import { type Selectable, type Selection, selectableOf } from './selectors.ts';
import { decodeObject } from './stored-object.ts';

/** The parts of a stored object that lists and watches need again and again: parsed once, kept as long as the item. */
export interface ItemSummary extends Selectable {
  /** The values of its columns, before dates become ages. */
  columns: readonly unknown[];
  name: string;
}

const summaries = new WeakMap<StoredItem, ItemSummary>();

/** Parses the item at the first call. Throws InternalError for a damaged value. */
export function summaryOf(definition: KindDefinition, item: StoredItem): ItemSummary {
  let summary = summaries.get(item);
  if (!summary) {
    const object = decodeObject(item);
    summary = {
      ...selectableOf(definition, object),
      columns: columnValues(definition, object),
      name: object.metadata.name,
    };
    summaries.set(item, summary);
  }
  return summary;
}

/** True if the selection includes the stored object. */
export function isSelected(definition: KindDefinition, selected: Selection, item: StoredItem): boolean {
  return selected.everything || selected.matches(summaryOf(definition, item));
}
