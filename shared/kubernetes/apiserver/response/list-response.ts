import { ArcError } from '#shared/base/errors';
import type { StoredItem } from '#shared/kubernetes/storage';
import { BytesWriter } from '../codec/bytes-writer.ts';
import { isIndented } from '../codec/negotiate.ts';
import { apiVersionOf } from '../kinds/served-kinds.ts';
import { columnDefinitions } from '../printers/table.ts';
import type { ResourceRequest } from '../request/api-request.ts';
import { type ItemFormat, writeItem } from './item-encoder.ts';
import { includeObjectOf, respondBody, respondPieces } from './respond.ts';

export interface ListMeta {
  resourceVersion: string;
  continue?: string;
  remainingItemCount?: number;
}

/** A response is made in slices of so many bytes or items, a few ms each. Other requests run in between. */
const sliceBytes = 512 * 1024;
const sliceItems = 500;
/** Room for the item that crosses the end of a slice, so that few buffers must grow. */
const overhang = 32 * 1024;

/**
 * A list in the requested form, from stored bytes. A list of one slice is sent as one body, longer lists are written slice by
 * slice, as fast as the client reads.
 */
export async function respondList(
  request: ResourceRequest,
  items: readonly StoredItem[],
  metadata: ListMeta,
): Promise<Response> {
  const { format, pretty } = request.format;
  const { head, field } = opening(request, metadata);
  if (format !== 'json' || isIndented(request.query, pretty))
    return respondBody(request, { ...head, [field]: parsed(request, items) });
  const start = `${JSON.stringify(head).slice(0, -1)},"${field}":[`;
  return respondPieces(request, slices(request, items, start));
}

/** Yields at least one slice; the last one ends the list. */
function* slices(
  request: ResourceRequest,
  items: readonly StoredItem[],
  start: string,
): Generator<Buffer, void> {
  const { definition } = request;
  const form = formOf(request);
  // The size that a short list probably needs.
  const likely = 4096 + items.length * ((items[0]?.value.byteLength ?? 0) + 256);
  let writer = new BytesWriter(Math.min(sliceBytes + overhang, likely));
  writer.text(start);
  let written = 0;
  /** Bytes of objects that a Table makes it parse. */
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

/** A list without its items, and the field that they are in. */
function opening(
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

/** The items one by one, for YAML and indented JSON. */
function* parsed(request: ResourceRequest, items: readonly StoredItem[]): Generator<unknown> {
  const form = formOf(request);
  for (const item of items) {
    const writer = new BytesWriter(item.value.byteLength + 512);
    writeItem(writer, request.definition, item, form);
    yield JSON.parse(writer.take().toString()) as unknown;
  }
}
