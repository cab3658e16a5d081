import { ArcError } from '#shared/base/errors';
import type { ReadOptions, Store, StoredItem } from '#shared/kubernetes/storage';
import { BytesWriter } from '../codec/bytes-writer.ts';
import type { KindDefinition, KubeObject } from '../kinds/definition.ts';
import { apiVersionOf } from '../kinds/served-kinds.ts';
import { objectKey } from './keys.ts';

const decoder = new TextDecoder();

const heads = new WeakMap<KindDefinition, Uint8Array>();

/** Returns the common prefix of all stored values of a kind. The resourceVersion is inserted after it. */
function headOf(definition: KindDefinition): Uint8Array {
  let head = heads.get(definition);
  if (!head) {
    const identity = JSON.stringify({ apiVersion: apiVersionOf(definition), kind: definition.kind });
    head = Buffer.from(`${identity.slice(0, -1)},"metadata":{`);
    heads.set(definition, head);
  }
  return head;
}

/** Returns the stored form: JSON without resourceVersion, beginning with apiVersion, kind and metadata. */
export function encodeObject(definition: KindDefinition, object: KubeObject): Buffer {
  const { apiVersion: _version, kind: _kind, metadata, ...rest } = object;
  const { resourceVersion: _revision, name, ...others } = metadata;
  const ordered = {
    apiVersion: apiVersionOf(definition),
    kind: definition.kind,
    metadata: { name, ...others },
    ...rest,
  };
  return Buffer.from(JSON.stringify(ordered));
}

/** Returns the JSON of an object with its resourceVersion, without parsing. */
export function withRevision(definition: KindDefinition, item: StoredItem, revision = item.revision): Buffer {
  const writer = new BytesWriter(item.value.byteLength + 64);
  writeWithRevision(writer, definition, item, revision);
  return writer.take();
}

export function writeWithRevision(
  writer: BytesWriter,
  definition: KindDefinition,
  item: StoredItem,
  revision: number,
): void {
  const head = checkHead(definition, item);
  writer.bytes(head);
  writer.text(`"resourceVersion":"${revision}",`);
  writer.bytes(item.value, head.length);
}

/** Writes the metadata of an object with its resourceVersion, without parsing. */
export function writeMetadata(
  writer: BytesWriter,
  definition: KindDefinition,
  item: StoredItem,
  revision: number,
): void {
  const head = checkHead(definition, item);
  writer.text(`{"resourceVersion":"${revision}",`);
  writer.bytes(item.value, head.length, metadataEnd(item, head.length));
}

/** Returns the prefix of the value, up to and including the opening brace of metadata. Throws InternalError if the value differs. */
function checkHead(definition: KindDefinition, item: StoredItem): Uint8Array {
  const head = headOf(definition);
  const { value } = item;
  // Buffer.compare would need a view per item of a list.
  for (let at = 0; at < head.length; at += 1) if (value[at] !== head[at]) throw corrupt(item.key);
  if (value[value.length - 1] !== byte.close) throw corrupt(item.key); // a truncated object would break the JSON of a list
  return head;
}

const ends = new WeakMap<StoredItem, number>();
const byte = { quote: 0x22, backslash: 0x5c, open: 0x7b, close: 0x7d };

/** Returns the offset after the closing brace of metadata. @param from offset after its opening brace */
function metadataEnd(item: StoredItem, from: number): number {
  let end = ends.get(item);
  if (end === undefined) {
    end = closingBrace(item.value, from);
    if (end === undefined) throw corrupt(item.key);
    ends.set(item, end);
  }
  return end;
}

function closingBrace(json: Uint8Array, from: number): number | undefined {
  let depth = 1;
  let isText = false;
  for (let at = from; at < json.length; at += 1) {
    const letter = json[at];
    if (isText && letter === byte.backslash) at += 1;
    else if (letter === byte.quote) isText = !isText;
    else if (isText) continue;
    else if (letter === byte.open) depth += 1;
    else if (letter === byte.close) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return undefined;
}

/** Returns the stored object with its resourceVersion. Throws InternalError for a damaged value. */
export function decodeObject(item: StoredItem, revision = item.revision): KubeObject {
  let parsed: KubeObject;
  try {
    parsed = JSON.parse(decoder.decode(item.value)) as KubeObject;
  } catch (caught) {
    throw corrupt(item.key, caught);
  }
  if (typeof parsed?.metadata?.name !== 'string') throw corrupt(item.key);
  parsed.metadata.resourceVersion = String(revision);
  return parsed;
}

function corrupt(key: string, cause?: unknown): ArcError {
  return new ArcError('InternalError', `the stored value of ${key} is damaged`, { cause });
}

/** Reads stored objects for admission plug-ins, without authorization and in the storage version. */
export interface StoredObjects {
  /** Returns the object, if it exists. @param namespace '' for a cluster-scoped kind */
  get(
    group: string,
    plural: string,
    namespace: string,
    name: string,
    options?: ReadOptions,
  ): Promise<KubeObject | undefined>;
}

/** Returns a reader of the objects of `kinds`; get returns undefined for other kinds. */
export function storedObjects(kinds: readonly KindDefinition[], store: Store): StoredObjects {
  const find = (group: string, plural: string) =>
    kinds.find((kind) => kind.group === group && kind.plural === plural);
  return {
    async get(group, plural, namespace, name, options) {
      const kind = find(group, plural);
      if (kind === undefined) return undefined;
      const { item } = await store.get(objectKey(kind, namespace, name), options);
      return item && decodeObject(item);
    },
  };
}

const sliceItems = 500;
const sliceBytes = 512 * 1024;

/** Splits items into slices that take a few milliseconds to parse: at most `maxItems` items, and 512 KiB or a single item. */
export function* itemSlices(
  items: readonly StoredItem[],
  maxItems = sliceItems,
): Generator<readonly StoredItem[]> {
  let from = 0;
  let bytes = 0;
  for (const [at, { value }] of items.entries()) {
    if (at > from && (at - from === maxItems || bytes + value.byteLength > sliceBytes)) {
      yield items.slice(from, at);
      from = at;
      bytes = 0;
    }
    bytes += value.byteLength;
  }
  if (from < items.length) yield items.slice(from);
}
