import { ArcError, bytesText } from '#shared/base/errors';

/**
 * Reads the body of a request, up to `limit` bytes. Rejects with RequestEntityTooLarge beyond that, without reading on (and
 * without reading at all if Content-Length exceeds it); with the signal's reason when it is aborted; with BadRequest when the
 * sender disconnects.
 */
export async function readBody(request: Request, limit: number, signal: AbortSignal): Promise<Uint8Array> {
  const length = request.headers.get('content-length');
  if (Number(length ?? 0) > limit) throw tooLarge(limit);
  // The HTTP parser enforces Content-Length, and a stream would cost more than the rest of a short request.
  if (length !== null) return whole(request, limit, signal);
  if (request.body === null) return new Uint8Array();
  const reader = request.body.getReader();
  const stop = () => void reader.cancel(signal.reason).catch(() => undefined);
  signal.addEventListener('abort', stop, { once: true });
  try {
    const body = await readUpTo(reader, limit);
    if (signal.aborted) throw ArcError.from(signal.reason);
    if (body === undefined) throw tooLarge(limit);
    return body;
  } catch (caught) {
    if (signal.aborted) throw ArcError.from(signal.reason);
    throw ArcError.from(caught, 'BadRequest');
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Reads a body of known length. After an abort the rest is not awaited. */
async function whole(request: Request, limit: number, signal: AbortSignal): Promise<Uint8Array> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const stop = () => reject(ArcError.from(signal.reason));
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    const body = new Uint8Array(await Promise.race([request.arrayBuffer(), aborted]));
    if (body.byteLength > limit) throw tooLarge(limit);
    return body;
  } catch (caught) {
    throw ArcError.from(caught, 'BadRequest');
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

async function readUpTo(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  limit: number,
): Promise<Uint8Array | undefined> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(pieces);
    size += value.byteLength;
    if (size > limit) {
      await reader.cancel();
      return undefined;
    }
    pieces.push(value);
  }
}

function tooLarge(limit: number): ArcError {
  return new ArcError('RequestEntityTooLarge', `an event must not be larger than ${bytesText(limit)}`);
}
