import { ArcError } from '#shared/base/errors';
import type { IndexedBy, StoredItem } from '#shared/kubernetes/storage';
import type { KindDefinition } from '../kinds/definition.ts';
import { columnValues } from '../printers/table.ts';
import { keyPrefix } from './keys.ts';
import { indexValueOf, type Selectable, type Selection, selectableOf } from './selectors.ts';
import { decodeObject } from './stored-object.ts';

/** The parts of an object that lists and watches need repeatedly: parsed once, cached for the lifetime of the item. */
export interface ItemSummary extends Selectable {
  /** Column values, before dates are converted to ages. */
  columns: readonly unknown[];
}

const summaries = new WeakMap<StoredItem, ItemSummary>();

/** Returns the summary of an item; parses it on the first call. Throws InternalError for a damaged value. */
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

/** Returns the index of a kind by its indexed labels. */
export function indexerOf(definition: KindDefinition): IndexedBy {
  const { indexedLabels = [] } = definition;
  let index = indexes.get(definition);
  if (!index) {
    const wordsOf = (item: StoredItem) => {
      const labels = labelsOf(definition, item);
      return indexedLabels.flatMap((label) =>
        Object.hasOwn(labels, label) ? indexValueOf(label, labels[label]) : [],
      );
    };
    index = { prefix: keyPrefix(definition), indexValuesOf: wordsOf };
    indexes.set(definition, index);
  }
  return index;
}

/** Returns no labels for a damaged value: indexing must not fail, and reading the object reports the damage. */
function labelsOf(definition: KindDefinition, item: StoredItem): Selectable['labels'] {
  try {
    return summaryOf(definition, item).labels;
  } catch (caught) {
    if (ArcError.is(caught, 'InternalError')) return {};
    throw caught;
  }
}

/** Tells whether a selection matches a stored object. */
export function isSelected(definition: KindDefinition, selected: Selection, item: StoredItem): boolean {
  return selected.everything || selected.matches(summaryOf(definition, item));
}
