import { itemOf, type StoredItem, type StoreEvent } from '#shared/storage';
import { BytesWriter } from '../codec/bytes-writer.ts';
import type { As } from '../codec/negotiate.ts';
import type { KindDefinition } from '../kinds/definition.ts';
import { apiVersionOf } from '../kinds/verbs.ts';
import { columnDefinitions } from '../printers/table.ts';
import { isSelected } from '../registry/item-summary.ts';
import type { Selection } from '../registry/selectors.ts';
import { type ItemFormat, writeItem } from '../response/item-encoder.ts';
import { createBoundedCache } from './line-cache.ts';

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** How a watch prints its objects. */
export type EventFormat = Omit<ItemFormat, 'now'>;

/** What an event is to a watcher: what to print, with which revision. Undefined: nothing of its concern. */
export interface WatchEvent {
  type: EventType;
  item: StoredItem;
  revision: number;
}

/** An object that leaves the selection is DELETED in its last matching state; one that enters it is ADDED. */
export function watchEventFor(
  definition: KindDefinition,
  selected: Selection,
  event: StoreEvent,
): WatchEvent | undefined {
  const { revision, previous } = event;
  const before = previous !== undefined && isSelected(definition, selected, previous);
  if (event.type === 'delete')
    return before ? { type: 'DELETED', item: event.previous, revision } : undefined;
  const item = itemOf(event);
  if (isSelected(definition, selected, item)) return { type: before ? 'MODIFIED' : 'ADDED', item, revision };
  return before && previous ? { type: 'DELETED', item: previous, revision } : undefined;
}

/** Bytes of lines kept for further watchers. */
const lineBytes = 4 * 1024 * 1024;
const lines = createBoundedCache<StoredItem, Map<string, Uint8Array>>(lineBytes);

/** The event as one line of JSON. While it is new, lines are shared between all watchers of the same form. */
export function eventLine(definition: KindDefinition, seen: WatchEvent, form: ItemFormat): Uint8Array {
  const known = lines.get(seen.item) ?? new Map<string, Uint8Array>();
  const id = `${seen.type} ${form.as} ${form.includeObject} ${seen.revision}`;
  const made = known.get(id);
  if (made) return made;
  const line = newLine(definition, seen, form, false);
  known.set(id, line);
  lines.set(seen.item, known, line.byteLength);
  return line;
}

/** The same, for one watcher alone; `columns`: as the first of a Table watch, which describes the columns. */
export function newLine(
  definition: KindDefinition,
  { type, item, revision }: WatchEvent,
  form: ItemFormat,
  columns: boolean,
): Uint8Array {
  const writer = new BytesWriter(item.value.byteLength + 512);
  writer.text(`{"type":"${type}","object":`);
  if (form.as === 'Table') {
    const table = {
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: String(revision) },
      columnDefinitions: columns ? columnDefinitions(definition) : null,
    };
    writer.text(`${JSON.stringify(table).slice(0, -1)},"rows":[`);
  }
  writeItem(writer, definition, item, form, revision);
  writer.text(form.as === 'Table' ? ']}}\n' : '}\n');
  return writer.takeExact();
}

/** Any event as a line. */
export function line(type: EventType | 'BOOKMARK' | 'ERROR', object: object): Uint8Array {
  return Buffer.from(`${JSON.stringify({ type, object })}\n`);
}

/** Tells a watcher how far it has seen; `initialEnd` marks the end of the initial list of a WatchList. */
export function bookmarkLine(
  definition: KindDefinition,
  as: As | undefined,
  revision: number,
  initialEnd: boolean,
): Uint8Array {
  const annotations = { 'k8s.io/initial-events-end': 'true' };
  const metadata = { resourceVersion: String(revision), ...(initialEnd && { annotations }) };
  const meta = 'meta.k8s.io/v1';
  if (as === undefined) {
    return line('BOOKMARK', { kind: definition.kind, apiVersion: apiVersionOf(definition), metadata });
  }
  const partial = { kind: 'PartialObjectMetadata', apiVersion: meta, metadata };
  if (as !== 'Table') return line('BOOKMARK', partial);
  const shownAge = definition.columns.some(({ name }) => name === 'Age') ? 0 : 1;
  const cells = ['', ...Array.from({ length: definition.columns.length + shownAge }, () => null)];
  const rows = [{ cells, object: partial }];
  const { resourceVersion } = metadata;
  return line('BOOKMARK', {
    kind: 'Table',
    apiVersion: meta,
    metadata: { resourceVersion },
    columnDefinitions: null,
    rows,
  });
}
