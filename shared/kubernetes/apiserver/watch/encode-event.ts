import { itemOf, type StoredItem, type StoreEvent } from '#shared/kubernetes/storage';
import { BytesWriter } from '../codec/bytes-writer.ts';
import type { ObjectTransform } from '../codec/negotiate.ts';
import type { KindDefinition } from '../kinds/definition.ts';
import { apiVersionOf } from '../kinds/served-kinds.ts';
import { columnDefinitions, columnsOf } from '../printers/table.ts';
import { isSelected } from '../registry/item-summary.ts';
import type { Selection } from '../registry/selectors.ts';
import { type ItemFormat, writeItem } from '../response/item-encoder.ts';

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** The representation in which a watch sends objects. */
export type EventFormat = Omit<ItemFormat, 'now'>;

/** A store event as seen by one watch. */
export interface WatchEvent {
  type: EventType;
  item: StoredItem;
  revision: number;
}

/** Returns ADDED for an object that enters the selection, DELETED with its last matching state when it leaves; undefined: no match. */
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

/** Size limit of the line cache, which all watches share. */
const lineCacheBytes = 4 * 1024 * 1024;
const lineCache = createBoundedCache<StoredItem, Map<string, Uint8Array>>(lineCacheBytes);

/** Returns the event as a line of JSON, from the cache if another watch of the same format has encoded it. */
export function eventLine(definition: KindDefinition, seen: WatchEvent, form: ItemFormat): Uint8Array {
  const variants = lineCache.get(seen.item) ?? new Map<string, Uint8Array>();
  const id = `${seen.type} ${form.as} ${form.includeObject} ${seen.revision}`;
  const cached = variants.get(id);
  if (cached) return cached;
  const line = newLine(definition, seen, form, false);
  variants.set(id, line);
  lineCache.set(seen.item, variants, line.byteLength);
  return line;
}

/** Returns the event as a line of JSON, without the cache. @param columns whether a Table includes its column definitions */
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

let joined: { lines: readonly Uint8Array[]; chunk: Uint8Array } | undefined;

/** Concatenates lines. Consecutive calls with the same lines return the same bytes: most watches flush the same events at once. */
export function joinLines(lines: readonly Uint8Array[]): Uint8Array {
  const [first] = lines;
  if (first && lines.length === 1) return first;
  const isSame =
    joined?.lines.length === lines.length && lines.every((each, at) => each === joined?.lines[at]);
  if (!joined || !isSame) joined = { lines, chunk: Buffer.concat(lines) };
  return joined.chunk;
}

/** Returns an event with an arbitrary object as a line of JSON. */
export function line(type: EventType | 'BOOKMARK' | 'ERROR', object: object): Uint8Array {
  return Buffer.from(`${JSON.stringify({ type, object })}\n`);
}

/** Returns a bookmark at `revision`. @param initialEnd whether the bookmark ends the initial events of a WatchList */
export function bookmarkLine(
  definition: KindDefinition,
  as: ObjectTransform | undefined,
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
 * Creates a cache that evicts the oldest values above `limitBytes`. All watches encode an event at nearly the same time, so a small cache
 * suffices; lines kept with the events in the history would take more memory than the history.
 */
export function createBoundedCache<K, V>(limitBytes: number) {
  const entries = new Map<K, { value: V; bytes: number }>();
  let totalBytes = 0;
  return {
    get: (key: K) => entries.get(key)?.value,
    /** @param more bytes by which the value has grown */
    set(key: K, value: V, more: number): void {
      const bytes = (entries.get(key)?.bytes ?? 0) + more;
      entries.delete(key);
      entries.set(key, { value, bytes });
      totalBytes += more;
      for (const [oldest, entry] of entries) {
        if (totalBytes <= limitBytes || oldest === key) return;
        entries.delete(oldest);
        totalBytes -= entry.bytes;
      }
    },
  };
}
