import { yieldToEventLoop } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import { jsonToYaml } from '#shared/base/yaml';
import type { StoredItem } from '#shared/kubernetes/storage';
import { isIndented, parseAccept, readByPeople } from '../codec/negotiate.ts';
import { badRequest } from '../errors/api-errors.ts';
import { toStatus } from '../errors/status.ts';
import type { IncomingRequest } from '../http/connection.ts';
import type { KubeObject } from '../kinds/definition.ts';
import { toPartial } from '../printers/partial.ts';
import { toTable } from '../printers/table.ts';
import { decodeObject, withRevision } from '../registry/stored-object.ts';
import type { ResourceRequest } from '../request/api-request.ts';
import { acceptsGzip, gzipFrom, gzipped, responseOf } from './content.ts';
import { indentedJson } from './indented-json.ts';
import { metadataOf } from './item-encoder.ts';

/** The `includeObject` of a Table request; BadRequest for other values. */
export function includeObjectOf(query: URLSearchParams): 'None' | 'Metadata' | 'Object' {
  const value = query.get('includeObject') ?? '';
  if (value === '') return 'Metadata';
  if (value === 'None' || value === 'Metadata' || value === 'Object') return value;
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(value.slice(0, 100))}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}

/** One object in the requested form. */
export function respondObject(request: ResourceRequest, object: KubeObject, status = 200): Response {
  return respondBody(request, represent(request, object), status);
}

/** As respondObject, from stored bytes, which are parsed only if the form requires it. */
export function respondItem(request: ResourceRequest, item: StoredItem, status = 200): Response {
  const { format, as, pretty } = request.format;
  const { definition } = request;
  if (format !== 'json' || isIndented(request.query, pretty))
    return respondObject(request, decodeObject(item), status);
  if (as === undefined) return send(request, withRevision(definition, item), status, 'application/json');
  if (as === 'PartialObjectMetadata')
    return send(request, metadataOf(definition, item), status, 'application/json');
  return respondObject(request, decodeObject(item), status);
}

/** The result of a write: the stored item, or with dryRun the object that would be stored. */
export type Written = { item: StoredItem } | { object: KubeObject };

export function respondWritten(request: ResourceRequest, written: Written, status = 200): Response {
  return 'item' in written
    ? respondItem(request, written.item, status)
    : respondObject(request, written.object, status);
}

function represent(request: ResourceRequest, object: KubeObject): object {
  const { as } = request.format;
  if (as === undefined) return object;
  if (as === 'PartialObjectMetadata') return toPartial(object);
  if (as === 'PartialObjectMetadataList') {
    throw new ArcError(
      'NotAcceptable',
      'you requested PartialObjectMetadataList, but the requested object is no list',
    );
  }
  return toTable(request.definition, [object], {
    includeObject: includeObjectOf(request.query),
    now: request.server.now(),
    listMeta: { resourceVersion: object.metadata.resourceVersion ?? '' },
    columnDefinitions: true,
  });
}

/** A finished body (list, Table, Status) as JSON or YAML. Its lists may be iterables, which are read while they are sent. */
export function respondBody(request: ResourceRequest, body: object, status = 200): Response {
  const { format, pretty } = request.format;
  if (format === 'yaml') return respondPieces(request, jsonToYaml(body), status, 'application/yaml');
  if (isIndented(request.query, pretty)) return respondPieces(request, indentedJson(body), status);
  return send(request, JSON.stringify(body), status, 'application/json');
}

/**
 * A body in pieces: one as a whole, more of them while they are made, as fast as the client reads. To indent may make a body a hundred times as
 * long as it is stored.
 */
export function respondPieces(
  request: ResourceRequest,
  pieces: Generator<string | Buffer, void>,
  status = 200,
  type = 'application/json',
): Response {
  // Before the response begins, so that an early failure is still a Status.
  const first = pieces.next().value ?? '';
  const second = pieces.next();
  if (second.done) return send(request, first, status, type);
  return stream(request, paced([first, second.value], pieces), status, type);
}

/** The pieces that are made, then more: before each, other requests run. */
async function* paced(
  made: readonly (string | Buffer)[],
  more: Generator<string | Buffer, void>,
): AsyncGenerator<Buffer> {
  for (const piece of made) yield bytesOf(piece);
  for (;;) {
    await yieldToEventLoop();
    const next = more.next();
    if (next.done) return;
    yield bytesOf(next.value);
  }
}

function bytesOf(piece: string | Buffer): Buffer {
  return typeof piece === 'string' ? Buffer.from(piece) : piece;
}

const plainText = 'text/plain; charset=utf-8';

/** A text as it is. */
export function respondText(request: ResourceRequest, text: string): Response {
  return send(request, text, 200, plainText);
}

function stream(
  request: ResourceRequest,
  chunks: AsyncGenerator<Uint8Array>,
  status: number,
  type: string,
): Response {
  const headers = headersOf(request, type);
  // Too late for a Status: the client sees an incomplete body.
  const onError = (caught: unknown) => request.server.log('a list ended early', caught);
  if (!acceptsGzip(request.raw.headers.get('accept-encoding')))
    return responseOf(ReadableStream.from(reported(chunks, onError)), { status, headers });
  return responseOf(gzipped(chunks, onError), { status, headers: withGzip(headers) });
}

/** The lines of a watch, as they come. */
export function respondWatch(request: ResourceRequest, body: ReadableStream<Uint8Array>): Response {
  return responseOf(body, { headers: headersOf(request, 'application/json') });
}

/** A text while it is written. */
export function respondTextStream(request: ResourceRequest, body: ReadableStream<Uint8Array>): Response {
  return responseOf(body, { headers: headersOf(request, plainText) });
}

async function* reported(
  chunks: AsyncGenerator<Uint8Array>,
  onError: (caught: unknown) => void,
): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } catch (caught) {
    onError(caught);
    throw caught;
  }
}

function send(request: ResourceRequest, body: string | Uint8Array, status: number, type: string): Response {
  const headers = headersOf(request, type);
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  if (bytes.byteLength < gzipFrom || !acceptsGzip(request.raw.headers.get('accept-encoding')))
    return responseOf(bytes as Uint8Array<ArrayBuffer>, { status, headers });
  const onError = (caught: unknown) => request.server.log('a response could not be compressed', caught);
  return responseOf(gzipped([bytes], onError), { status, headers: withGzip(headers) });
}

function withGzip(headers: Headers): Headers {
  headers.set('Content-Encoding', 'gzip');
  headers.append('Vary', 'Accept-Encoding');
  return headers;
}

function headersOf(request: ResourceRequest, type: string): Headers {
  const headers = new Headers({ 'Content-Type': type });
  addWarnings(headers, request.warnings);
  return headers;
}

function addWarnings(headers: Headers, warnings: readonly string[]): void {
  for (const text of warningTexts(warnings)) headers.append('Warning', `299 - "${text}"`);
}

/** Characters of all warnings together, and of each one if they exceed that, as in k8s.io/apiserver. */
const warningBudget = 4096;
const maxWarningLength = 256;

/** Removes duplicates, cuts to the limits, and replaces what is not printable ASCII by '?'. */
function warningTexts(warnings: readonly string[]): string[] {
  const distinct = [...new Set(warnings.slice(0, warningBudget))];
  const total = distinct.reduce((sum, text) => sum + text.length, 0);
  const cut = total > warningBudget ? distinct.map((text) => text.slice(0, maxWarningLength)) : distinct;
  let left = warningBudget;
  return cut.flatMap((text) => {
    left -= text.length;
    return left < 0 ? [] : [text.replace(/[^\x20-\x7e]/g, '?').replace(/["\\]/g, '\\$&')];
  });
}

/** The Status response of a failure to who asked, with the warnings that the request had caused before. */
export function respondError(
  caught: unknown,
  { headers: asked, url }: Pick<IncomingRequest, 'headers' | 'url'>,
  warnings: readonly string[] = [],
): Response {
  const status = toStatus(caught);
  const yaml = prefersYaml(asked.get('accept'));
  const indent = isIndented(new URL(url).searchParams, readByPeople(asked.get('user-agent')));
  const headers = new Headers({ 'Content-Type': yaml ? 'application/yaml' : 'application/json' });
  addWarnings(headers, warnings);
  if (status.reason === 'Forbidden') headers.set('X-Content-Type-Options', 'nosniff');
  const retry = status.details?.retryAfterSeconds;
  if (retry !== undefined) headers.set('Retry-After', String(retry));
  const body = yaml
    ? [...jsonToYaml(status)].join('')
    : JSON.stringify(status, undefined, indent ? 2 : undefined);
  return responseOf(body, { status: status.code, headers });
}

/** Failures are YAML where the client prefers it. An Accept header that cannot be met gets JSON. */
function prefersYaml(accept: string | null | undefined): boolean {
  const [first] = parseAccept(accept);
  return first !== undefined && yamlTypes.has(first.type);
}
const yamlTypes = new Set(['application/yaml', 'application/x-yaml', 'text/yaml']);
