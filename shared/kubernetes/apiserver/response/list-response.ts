import { ArcError } from '#shared/base/errors';
import type { StoredItem } from '#shared/kubernetes/storage';
import { BytesWriter } from '../codec/bytes-writer.ts';
import { isIndented } from '../codec/negotiate.ts';
import { apiVersionOf } from '../kinds/served-kinds.ts';
import { columnDefinitions } from '../printers/table.ts';
import type { ResourceRequest } from '../request/api-request.ts';
import { type ItemFormat, writeItem } from './item-encoder.ts';
import { includeObjectOf, respondBody, respondChunks } from './respond.ts';

export interface ListMeta {
  resourceVersion: string;
  continue?: string;
  remainingItemCount?: number;
}

/** Limits of a slice of a list, which takes a few milliseconds. Other requests run between slices. */
const sliceBytes = 512 * 1024;
const sliceItems = 500;
/** Room for the item that exceeds the limit of a slice, so that few buffers grow. */
const overhang = 32 * 1024;

/**
 * Responds with a list in the negotiated representation, from stored bytes. A list of one slice is sent as a whole, a longer list is
 * streamed with backpressure.
 */
export async function respondList(
  request: ResourceRequest,
  items: readonly StoredItem[],
  metadata: ListMeta,
): Promise<Response> {
  const { format, pretty } = request.format;
  const { head, field } = listHead(request, metadata);
  if (format !== 'json' || isIndented(request.query, pretty))
    return respondBody(request, { ...head, [field]: parsedItems(request, items) });
  const start = `${JSON.stringify(head).slice(0, -1)},"${field}":[`;
  return respondChunks(request, slices(request, items, start));
}

/** Yields at least one slice. The last slice closes the list. */
function* slices(
  request: ResourceRequest,
  items: readonly StoredItem[],
  start: string,
): Generator<Buffer, void> {
  const { definition } = request;
  const form = formOf(request);
  // Estimates the size of a short list from its first item.
  const estimate = 4096 + items.length * ((items[0]?.value.byteLength ?? 0) + 256);
  let writer = new BytesWriter(Math.min(sliceBytes + overhang, estimate));
  writer.text(start);
  let written = 0;
  /** Bytes of the objects parsed for a Table. */
  let parsed = 0;
  for (const [index, item] of items.entries()) {
    if (writer.length >= sliceBytes || parsed >= sliceBytes || written === sliceItems) {
      yield writer.take();
      writer = new BytesWriter(sliceBytes + overhang);
      written = 0;
      parsed = 0;
    }
    if (form.as === 'Table') parsed += item.value.byteLength;
    if (index > 0) writer.text(',');
    writeItem(writer, definition, item, form);
    written += 1;
  }
  writer.text(']}');
  yield writer.take();
}

function formOf({ format, query, server }: ResourceRequest): ItemFormat {
  return { as: format.as, includeObject: includeObjectOf(query), now: server.now() };
}

/** Returns the list without items, and the field for the items. */
function listHead(
  { definition, format }: ResourceRequest,
  metadata: ListMeta,
): { head: object; field: 'items' | 'rows' } {
  const meta = 'meta.k8s.io/v1';
  switch (format.as) {
    case undefined: {
      const kind = `${definition.kind}List`;
      return { head: { apiVersion: apiVersionOf(definition), kind, metadata }, field: 'items' };
    }
    case 'Table': {
      const columns = columnDefinitions(definition);
      const head = { kind: 'Table', apiVersion: meta, metadata, columnDefinitions: columns };
      return { head, field: 'rows' };
    }
    case 'PartialObjectMetadataList':
      return { head: { kind: 'PartialObjectMetadataList', apiVersion: meta, metadata }, field: 'items' };
    case 'PartialObjectMetadata':
      throw new ArcError(
        'NotAcceptable',
        'you requested PartialObjectMetadata, but the requested object is a list',
      );
  }
}

/** Yields the items as objects, for YAML and indented JSON. */
function* parsedItems(request: ResourceRequest, items: readonly StoredItem[]): Generator<unknown> {
  const form = formOf(request);
  for (const item of items) {
    const writer = new BytesWriter(item.value.byteLength + 512);
    writeItem(writer, request.definition, item, form);
    yield JSON.parse(writer.take().toString()) as unknown;
  }
}
