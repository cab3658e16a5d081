import { ArcError } from '#shared/errors';
import { bodyLimit } from '../codec/parse-body.ts';
import type { ApiRequest } from './api-request.ts';

/** As far as a body without a length is read to its end, for nothing but the connection to stay usable. */
const discardLimit = 2 * bodyLimit;

/** The media type of the body without parameters, lower case; '' when the client names none, and all of what is none. */
export function bodyType(request: Request): string {
  const header = (request.headers.get('content-type') ?? '').trim().toLowerCase();
  return header.split(';')[0]?.trim() || header;
}

/** The part of an ApiRequest from which its body is read. */
export type BodySource = Pick<ApiRequest, 'raw' | 'keepsBody' | 'body'>;

/** Reads the whole body, counting while it streams; rejects with RequestEntityTooLarge or UnsupportedMediaType (gzip). */
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

/** As long as its header says, which the parser of HTTP sees to; without a stream around it. */
function whole(request: Request): Promise<ArrayBuffer> {
  return request.arrayBuffer().catch(incomplete);
}

/** Of unknown length. */
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

/** Whoever would read the answer has left, and it is no failure of ours. */
function incomplete(caught: unknown): never {
  throw new ArcError('BadRequest', 'the body ended before it was complete', { cause: caught });
}

function tooLarge(): ArcError {
  return new ArcError('RequestEntityTooLarge', `Request entity too large: limit is ${bodyLimit}`);
}
