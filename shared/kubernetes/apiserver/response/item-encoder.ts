import type { StoredItem } from '#shared/kubernetes/storage';
import { BytesWriter } from '../codec/bytes-writer.ts';
import type { ObjectTransform } from '../codec/negotiate.ts';
import type { KindDefinition } from '../kinds/definition.ts';
import { cellsOf, type IncludeObject } from '../printers/table.ts';
import { summaryOf } from '../registry/item-summary.ts';
import { writeMetadata, writeWithRevision } from '../registry/stored-object.ts';

/** The representation of items of a list or watch. `includeObject` and `now` (for ages) apply to Tables. */
export interface ItemFormat {
  as: ObjectTransform | undefined;
  includeObject: IncludeObject;
  now: Date;
}

/** Writes an item from its stored bytes: the object, its metadata, or its table row. */
export function writeItem(
  writer: BytesWriter,
  definition: KindDefinition,
  item: StoredItem,
  form: ItemFormat,
  revision = item.revision,
): void {
  if (form.as === undefined) writeWithRevision(writer, definition, item, revision);
  else if (form.as !== 'Table') writePartial(writer, definition, item, revision);
  else writeRow(writer, definition, item, form, revision);
}

/** Returns the PartialObjectMetadata of an item without parsing the object, which may be large. */
export function metadataOf(definition: KindDefinition, item: StoredItem): Buffer {
  const writer = new BytesWriter(typicalMetadataBytes);
  writePartial(writer, definition, item, item.revision);
  return writer.take();
}

/** Suffices for the metadata of most objects. */
const typicalMetadataBytes = 4096;

function writePartial(
  writer: BytesWriter,
  definition: KindDefinition,
  item: StoredItem,
  revision: number,
): void {
  writer.text('{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":');
  writeMetadata(writer, definition, item, revision);
  writer.text('}');
}

function writeRow(
  writer: BytesWriter,
  definition: KindDefinition,
  item: StoredItem,
  { includeObject, now }: ItemFormat,
  revision: number,
): void {
  const { columns } = summaryOf(definition, item);
  writer.text(`{"cells":${JSON.stringify(cellsOf(definition, columns, now))},"object":`);
  if (includeObject === 'None') writer.text('null');
  else if (includeObject === 'Object') writeWithRevision(writer, definition, item, revision);
  else writePartial(writer, definition, item, revision);
  writer.text('}');
}
