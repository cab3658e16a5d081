import type { StoredItem, StoreEvent } from '#shared/storage';
import type { KindDefinition, KubeObject } from './definition.ts';
import { createRecent } from './recent.ts';
import { apiVersionOf, decodeObject, withRevision } from './registry.ts';
import { type As, toPartial, toTable } from './representation/index.ts';
import type { Selection } from './selectors.ts';

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** How a watch prints its objects. `includeObject` counts for Tables only. */
export interface EventForm {
  as: As | undefined;
  includeObject: 'None' | 'Metadata' | 'Object';
}

/** What an event is to a watcher: what to print, with which revision. Undefined: nothing of its concern. */
export interface Seen {
  type: EventType;
  item: StoredItem;
  revision: number;
}

/** An object that leaves the selection is DELETED in its last matching state; one that enters it is ADDED. */
export function seenBy(selected: Selection, event: StoreEvent): Seen | undefined {
  const { revision, previous } = event;
  const before = previous !== undefined && matches(selected, previous);
  if (event.type === 'delete')
    return before ? { type: 'DELETED', item: event.previous, revision } : undefined;
  const item = putItem(event);
  if (matches(selected, item)) return { type: before ? 'MODIFIED' : 'ADDED', item, revision };
  return before && previous ? { type: 'DELETED', item: previous, revision } : undefined;
}

const putItems = new WeakMap<StoreEvent, StoredItem>();

/** One item per event, so that what is cached for it is shared by all watchers. */
function putItem(event: StoreEvent & { type: 'put' }): StoredItem {
  let item = putItems.get(event);
  if (!item) {
    item = { key: event.key, value: event.value, revision: event.revision };
    putItems.set(event, item);
  }
  return item;
}

/** Bytes of JSON whose parsed form is kept for further watchers with a selector. */
const parsedBytes = 1024 * 1024;
const parsed = createRecent<StoredItem, KubeObject>(parsedBytes);

function matches(selected: Selection, item: StoredItem): boolean {
  if (selected.everything) return true;
  if (!selected.mayMatch(item.value)) return false;
  let object = parsed.get(item);
  if (!object) {
    object = decodeObject(item);
    parsed.set(item, object, item.value.byteLength);
  }
  return selected.matches(object);
}

/** Bytes of lines kept for further watchers. */
const lineBytes = 4 * 1024 * 1024;
const lines = createRecent<StoredItem, Map<string, Uint8Array>>(lineBytes);

/** The event as one line of JSON. While it is new, lines are shared between all watchers of the same form. */
export function eventLine(definition: KindDefinition, seen: Seen, form: EventForm, now: Date): Uint8Array {
  const known = lines.get(seen.item) ?? new Map<string, Uint8Array>();
  const id = `${seen.type} ${form.as} ${form.includeObject} ${seen.revision}`;
  const made = known.get(id);
  if (made) return made;
  const line = encodeLine(definition, seen, form, now, false);
  known.set(id, line);
  lines.set(seen.item, known, line.byteLength);
  return line;
}

/** The first event of a Table watch describes the columns; it is made for its watcher alone. */
export function firstLine(definition: KindDefinition, seen: Seen, form: EventForm, now: Date): Uint8Array {
  return encodeLine(definition, seen, form, now, true);
}

function encodeLine(
  definition: KindDefinition,
  seen: Seen,
  form: EventForm,
  now: Date,
  columnDefinitions: boolean,
): Uint8Array {
  if (form.as === undefined) {
    const object = withRevision(definition, seen.item, seen.revision);
    return unpooled([Buffer.from(`{"type":"${seen.type}","object":`), object, lineEnd]);
  }
  const object = decodeObject(seen.item, seen.revision);
  if (form.as !== 'Table') return line(seen.type, toPartial(object));
  const listMeta = { resourceVersion: String(seen.revision) };
  const { includeObject } = form;
  return line(seen.type, toTable(definition, [object], { includeObject, now, listMeta, columnDefinitions }));
}

const lineEnd = Buffer.from('}\n');

/** Joined in memory of its own: a piece of Node's pool would keep 64 KiB alive for as long as the line is kept. */
function unpooled(parts: readonly Uint8Array[]): Uint8Array {
  const whole = Buffer.allocUnsafeSlow(parts.reduce((sum, part) => sum + part.byteLength, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.byteLength;
  }
  return whole;
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
