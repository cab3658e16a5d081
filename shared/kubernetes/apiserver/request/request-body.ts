import { ArcError } from '#shared/base/errors';
import { bodyLimit } from '../codec/parse-body.ts';
import type { IncomingRequest } from '../http/connection.ts';
import type { ApiRequest } from './api-request.ts';

/** A body that is too large and has no Content-Length is discarded up to here, so that the connection can be reused. */
const discardLimit = 2 * bodyLimit;

/** The part of an ApiRequest that readBody uses. */
export type BodySource = Pick<ApiRequest, 'raw' | 'fairUse' | 'body'>;

/** The timeout of a body is this grace period plus its size divided by the minimum rate. */
const bodyGraceMs = 15_000;
const minBytesPerMs = 64;

/**
 * Reads the body, up to `bodyLimit`. Rejects with RequestEntityTooLarge, UnsupportedMediaType (gzip), BadRequest if the client sends too
 * slowly, and TooManyRequests if its user has too many bytes in flight.
 */
export async function readBody(request: BodySource): Promise<Uint8Array> {
  request.body ??= await receive(request);
  return request.body;
}

async function receive({ raw, fairUse: use }: BodySource): Promise<Uint8Array> {
  const coding = raw.headers.get('content-encoding') ?? 'identity';
  if (coding !== 'identity') {
    throw new ArcError(
      'UnsupportedMediaType',
      `the content encoding "${coding}" is not supported for request bodies`,
    );
  }
  const length = raw.headers.get('content-length');
  if (length !== null && Number(length) > bodyLimit) throw tooLarge();
  if (length === null && raw.body === null) return new Uint8Array();
  if (length !== null) use?.reserve(Number(length));
  const reading = length === null ? readStream(raw, (bytes) => use?.reserve(bytes)) : readWhole(raw);
  const body = await withTimeout(reading, Number(length ?? bodyLimit));
  if (body.byteLength > bodyLimit) throw tooLarge();
  return body;
}

/** Reads a body with Content-Length, which the HTTP parser enforces, without a stream. */
async function readWhole(request: IncomingRequest): Promise<Uint8Array> {
  return new Uint8Array(await request.arrayBuffer().catch(incomplete));
}

/** Rejects if a body of `size` bytes arrives too slowly. The rest is not read, and the connection closes. */
async function withTimeout(body: Promise<Uint8Array>, size: number): Promise<Uint8Array> {
  const { promise: timedOut, reject } = Promise.withResolvers<never>();
  const ms = bodyGraceMs + Math.ceil(size / minBytesPerMs);
  const message = `timed out reading the body after ${Math.round(ms / 1000)} seconds`;
  const timer = setTimeout(() => reject(new ArcError('BadRequest', message)), ms).unref();
  try {
    return await Promise.race([body, timedOut]);
  } finally {
    clearTimeout(timer);
  }
}

/** Reads a body without Content-Length. */
async function readStream(request: IncomingRequest, reserve: (bytes: number) => void): Promise<Uint8Array> {
  if (!request.body) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of request.body) {
      size += chunk.byteLength;
      if (size > discardLimit) throw tooLarge();
      if (size > bodyLimit) continue;
      reserve(chunk.byteLength);
      chunks.push(chunk);
    }
  } catch (caught) {
    if (caught instanceof ArcError) throw caught;
    return incomplete(caught);
  }
  if (size > bodyLimit) throw tooLarge();
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}

/** BadRequest, because a client that disconnects is not a server error. */
function incomplete(caught: unknown): never {
  throw new ArcError('BadRequest', 'the body ended before it was complete', { cause: caught });
}

function tooLarge(): ArcError {
  return new ArcError('RequestEntityTooLarge', `Request entity too large: limit is ${bodyLimit}`);
}
