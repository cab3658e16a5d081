import { ArcError } from '#shared/errors';
import { bodyLimit } from '../codec/parse-body.ts';
import type { ApiRequest } from './api-request.ts';

/** A too large body without a length is read up to here and dropped, so that the connection stays usable. */
const discardLimit = 2 * bodyLimit;

/** The media type of the body in lower case, without parameters; '' when the client sends none. */
export function bodyType(request: Request): string {
  const header = (request.headers.get('content-type') ?? '').trim().toLowerCase();
  return header.split(';')[0]?.trim() || header;
}

/** The part of an ApiRequest from which its body is read. */
export type BodySource = Pick<ApiRequest, 'raw' | 'keepsBody' | 'body'>;

/** Reads the body up to `bodyLimit`; rejects with RequestEntityTooLarge or UnsupportedMediaType (gzip). */
export async function readBody(request: BodySource): Promise<Uint8Array> {
  const { raw } = request;
  const coding = raw.headers.get('content-encoding') ?? 'identity';
  if (coding !== 'identity') {
    throw new ArcError(
      'UnsupportedMediaType',
      `the content encoding "${coding}" is not supported for request bodies`,
    );
  }
  const length = raw.headers.get('content-length');
  if (length !== null && Number(length) > bodyLimit) throw tooLarge();
  const body = length === null ? await collect(raw) : new Uint8Array(await whole(raw));
  if (body.byteLength > bodyLimit) throw tooLarge();
  if (request.keepsBody) request.body = body;
  return body;
}

/** Reads a body of known length, which the HTTP parser enforces, without a stream. */
function whole(request: Request): Promise<ArrayBuffer> {
  return request.arrayBuffer().catch(incomplete);
}

/** Reads a body of unknown length. */
async function collect(request: Request): Promise<Uint8Array> {
  if (!request.body) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of request.body) {
      size += chunk.byteLength;
      if (size > discardLimit) throw tooLarge();
      if (size <= bodyLimit) chunks.push(chunk);
    }
  } catch (caught) {
    if (caught instanceof ArcError) throw caught;
    return incomplete(caught);
  }
  if (size > bodyLimit) throw tooLarge();
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}

/** The client has left: not a failure of the server. */
function incomplete(caught: unknown): never {
  throw new ArcError('BadRequest', 'the body ended before it was complete', { cause: caught });
}

function tooLarge(): ArcError {
  return new ArcError('RequestEntityTooLarge', `Request entity too large: limit is ${bodyLimit}`);
}
