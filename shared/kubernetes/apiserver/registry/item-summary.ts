import { ArcError } from '#shared/base/errors';
import type { IndexedBy, StoredItem } from '#shared/kubernetes/storage';
import type { KindDefinition } from '../kinds/definition.ts';
import { columnValues } from '../printers/table.ts';
import { keyPrefix } from './keys.ts';
import { type Selectable, type Selection, selectableOf, wordOf } from './selectors.ts';
import { decodeObject } from './stored-object.ts';

/** The parts of a stored object that lists and watches need again and again: parsed once, kept as long as the item. */
export interface ItemSummary extends Selectable {
  /** The values of its columns, before dates become ages. */
  columns: readonly unknown[];
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
    };
    summaries.set(item, summary);
  }
  return summary;
}

const indexes = new WeakMap<KindDefinition, IndexedBy>();

/** The index of a kind's objects by their indexed labels. */
export function indexOf(definition: KindDefinition): IndexedBy {
  const { indexedLabels = [] } = definition;
  let index = indexes.get(definition);
  if (!index) {
    const wordsOf = (item: StoredItem) => {
      const labels = labelsOf(definition, item);
      return indexedLabels.flatMap((label) =>
        Object.hasOwn(labels, label) ? wordOf(label, labels[label]) : [],
      );
    };
    index = { prefix: keyPrefix(definition), wordsOf };
    indexes.set(definition, index);
  }
  return index;
}

/** None of a damaged value: it must not take the others with it, and whoever reads it is told. */
function labelsOf(definition: KindDefinition, item: StoredItem): Selectable['labels'] {
  try {
    return summaryOf(definition, item).labels;
  } catch (caught) {
    if (ArcError.is(caught, 'InternalError')) return {};
    throw caught;
  }
}

/** True if the selection includes the stored object. */
export function isSelected(definition: KindDefinition, selected: Selection, item: StoredItem): boolean {
  return selected.everything || selected.matches(summaryOf(definition, item));
}
