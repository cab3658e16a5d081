import { yieldToEventLoop } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import { jsonToYaml } from '#shared/base/yaml';
import type { StoredItem } from '#shared/kubernetes/storage';
import { isIndented, isReadByPeople, parseAccept } from '../codec/negotiate.ts';
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

/** Returns the `includeObject` of a Table request. Throws BadRequest for unknown values. */
export function includeObjectOf(query: URLSearchParams): 'None' | 'Metadata' | 'Object' {
  const value = query.get('includeObject') ?? '';
  if (value === '') return 'Metadata';
  if (value === 'None' || value === 'Metadata' || value === 'Object') return value;
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(value.slice(0, 100))}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}

/** Responds with an object in the negotiated representation. */
export function respondObject(request: ResourceRequest, object: KubeObject, status = 200): Response {
  return respondBody(request, represent(request, object), status);
}

/** Like respondObject, from stored bytes, which are parsed only if the representation requires it. */
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

/** The result of a write: the stored item, or in a dry run the object that would be stored. */
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

/** Responds with a list, Table or Status as JSON or YAML. Its lists may be iterables, which are read while sending. */
export function respondBody(request: ResourceRequest, body: object, status = 200): Response {
  const { format, pretty } = request.format;
  if (format === 'yaml') return respondChunks(request, jsonToYaml(body), status, 'application/yaml');
  if (isIndented(request.query, pretty)) return respondChunks(request, indentedJson(body), status);
  return send(request, JSON.stringify(body), status, 'application/json');
}

/**
 * Responds with generated chunks: a single chunk is sent as a whole, more chunks are streamed with backpressure. Indentation may grow a
 * body a hundredfold.
 */
export function respondChunks(
  request: ResourceRequest,
  chunks: Generator<string | Buffer, void>,
  status = 200,
  type = 'application/json',
): Response {
  // Generated before the response begins, so that an early error becomes a Status.
  const first = chunks.next().value ?? '';
  const second = chunks.next();
  if (second.done) return send(request, first, status, type);
  return stream(request, yielding([first, second.value], chunks), status, type);
}

/** Yields the generated chunks, then more, and yields to the event loop before generating each. */
async function* yielding(
  generated: readonly (string | Buffer)[],
  more: Generator<string | Buffer, void>,
): AsyncGenerator<Buffer> {
  for (const chunk of generated) yield bytesOf(chunk);
  for (;;) {
    await yieldToEventLoop();
    const next = more.next();
    if (next.done) return;
    yield bytesOf(next.value);
  }
}

function bytesOf(chunk: string | Buffer): Buffer {
  return typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
}

const plainText = 'text/plain; charset=utf-8';

/** Responds with plain text. */
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
  // The response has begun: the client sees an incomplete body instead of a Status.
  const onError = (caught: unknown) => request.server.log('a streamed response ended early', caught);
  if (!acceptsGzip(request.raw.headers.get('accept-encoding')))
    return responseOf(ReadableStream.from(withErrorHandler(chunks, onError)), { status, headers });
  return responseOf(gzipped(chunks, onError), { status, headers: withGzip(headers) });
}

/** Responds with the event stream of a watch. */
export function respondWatch(request: ResourceRequest, body: ReadableStream<Uint8Array>): Response {
  return responseOf(body, { headers: headersOf(request, 'application/json') });
}

/** Responds with plain text as a stream. */
export function respondTextStream(request: ResourceRequest, body: ReadableStream<Uint8Array>): Response {
  return responseOf(body, { headers: headersOf(request, plainText) });
}

async function* withErrorHandler(
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
  const onError = (caught: unknown) => request.server.log('failed to compress a response', caught);
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

/** Total length of all warnings, and length of each warning above that total, in characters, as in k8s.io/apiserver. */
const warningBudget = 4096;
const maxWarningLength = 256;

/** Removes duplicates, truncates to the limits, and replaces characters other than printable ASCII by '?'. */
function warningTexts(warnings: readonly string[]): string[] {
  const distinct = [...new Set(warnings.slice(0, warningBudget))];
  const total = distinct.reduce((sum, text) => sum + text.length, 0);
  const truncated =
    total > warningBudget ? distinct.map((text) => text.slice(0, maxWarningLength)) : distinct;
  let left = warningBudget;
  return truncated.flatMap((text) => {
    left -= text.length;
    return left < 0 ? [] : [text.replace(/[^\x20-\x7e]/g, '?').replace(/["\\]/g, '\\$&')];
  });
}

/** Responds with the Status of an error, in a representation that the client accepts, with the warnings collected so far. */
export function respondError(
  caught: unknown,
  { headers: requestHeaders, url }: Pick<IncomingRequest, 'headers' | 'url'>,
  warnings: readonly string[] = [],
): Response {
  const status = toStatus(caught);
  const yaml = prefersYaml(requestHeaders.get('accept'));
  const indent = isIndented(new URL(url).searchParams, isReadByPeople(requestHeaders.get('user-agent')));
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

/** Tells whether the client prefers YAML. The default for errors is JSON, also if the Accept header cannot be satisfied. */
function prefersYaml(accept: string | null | undefined): boolean {
  const [first] = parseAccept(accept);
  return first !== undefined && yamlTypes.has(first.type);
}
const yamlTypes = new Set(['application/yaml', 'application/x-yaml', 'text/yaml']);
