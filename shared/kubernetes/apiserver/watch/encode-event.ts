import { itemOf, type StoredItem, type StoreEvent } from '#shared/kubernetes/storage';
import { BytesWriter } from '../codec/bytes-writer.ts';
import type { As } from '../codec/negotiate.ts';
import type { KindDefinition } from '../kinds/definition.ts';
import { apiVersionOf } from '../kinds/served-kinds.ts';
import { columnDefinitions, columnsOf } from '../printers/table.ts';
import { isSelected } from '../registry/item-summary.ts';
import type { Selection } from '../registry/selectors.ts';
import { type ItemFormat, writeItem } from '../response/item-encoder.ts';

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** How a watch sends its objects. */
export type EventFormat = Omit<ItemFormat, 'now'>;

/** A store event as one watch sees it. */
export interface WatchEvent {
  type: EventType;
  item: StoredItem;
  revision: number;
}

/** An object that leaves the selection is DELETED in its last matching state; one that enters it is ADDED. Undefined: no match. */
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

/** Bytes of lines kept for other watches. */
const lineBytes = 4 * 1024 * 1024;
const lines = createBoundedCache<StoredItem, Map<string, Uint8Array>>(lineBytes);

/** The event as one line of JSON. Watches of the same form share recent lines. */
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

/** As eventLine, not shared. @param columns true for the first event of a Table watch, which describes the columns */
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

/** A bookmark at `revision`. @param initialEnd it ends the initial list of a WatchList */
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
  const cells = columnsOf(definition).map(({ name }) => (name === 'Name' ? '' : null));
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

/**
 * Keeps the newest values, up to a number of bytes, for the lines that many watches need of one event. They need them at nearly the same
 * time, while the event itself stays in the history: lines kept there would take more memory than the history.
 */
export function createBoundedCache<K, V>(limitBytes: number) {
  const entries = new Map<K, { value: V; bytes: number }>();
  let kept = 0;
  return {
    get: (key: K) => entries.get(key)?.value,
    /** @param more bytes by which the value of the key has grown */
    set(key: K, value: V, more: number): void {
      const bytes = (entries.get(key)?.bytes ?? 0) + more;
      entries.delete(key);
      entries.set(key, { value, bytes });
      kept += more;
      for (const [oldest, entry] of entries) {
        if (kept <= limitBytes || oldest === key) return;
        entries.delete(oldest);
        kept -= entry.bytes;
      }
    },
  };
}
