import { ArcError } from '#shared/base/errors';
import { bodyLimit } from '../codec/parse-body.ts';
import type { IncomingRequest } from '../http/connection.ts';
import type { ApiRequest } from './api-request.ts';

/** A too large body without a length is read up to here and dropped, so that the connection stays usable. */
const discardLimit = 2 * bodyLimit;

/** The part of an ApiRequest from which its body is read. */
export type BodySource = Pick<ApiRequest, 'raw' | 'use' | 'body'>;

/** Milliseconds a body may take: this, and as many more as its bytes take at the slowest rate. */
const bodyGraceMs = 15_000;
const slowestBytesPerMs = 64;

/**
 * The body, up to `bodyLimit`. Rejects with RequestEntityTooLarge, UnsupportedMediaType (gzip), BadRequest when it comes too slowly,
 * and TooManyRequests when its user has too many bytes under way.
 */
export async function readBody(request: BodySource): Promise<Uint8Array> {
  request.body ??= await receive(request);
  return request.body;
}

async function receive({ raw, use }: BodySource): Promise<Uint8Array> {
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
  const reading = length === null ? collect(raw, (bytes) => use?.reserve(bytes)) : whole(raw);
  const body = await inTime(reading, Number(length ?? bodyLimit));
  if (body.byteLength > bodyLimit) throw tooLarge();
  return body;
}

/** Reads a body of known length, which the HTTP parser enforces, without a stream. */
async function whole(request: IncomingRequest): Promise<Uint8Array> {
  return new Uint8Array(await request.arrayBuffer().catch(incomplete));
}

/** Rejects when a body of `size` bytes takes too long. The rest of it is not read: its connection closes. */
async function inTime(body: Promise<Uint8Array>, size: number): Promise<Uint8Array> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const ms = bodyGraceMs + Math.ceil(size / slowestBytesPerMs);
  const message = `the body was not complete after ${Math.round(ms / 1000)} seconds`;
  const timer = setTimeout(() => reject(new ArcError('BadRequest', message)), ms).unref();
  try {
    return await Promise.race([body, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Reads a body of unknown length. */
async function collect(request: IncomingRequest, reserve: (bytes: number) => void): Promise<Uint8Array> {
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

/** The client has left: not a failure of the server. */
function incomplete(caught: unknown): never {
  throw new ArcError('BadRequest', 'the body ended before it was complete', { cause: caught });
}

function tooLarge(): ArcError {
  return new ArcError('RequestEntityTooLarge', `Request entity too large: limit is ${bodyLimit}`);
}
