/** A stream of bytes, such as a Readable. */
export interface ByteStream extends AsyncIterable<Buffer> {
  /** Aborts the stream. */
  destroy(): void;
}

/** Creates the body of a request, anew for every attempt. */
export type BodySource = () => Uint8Array | AsyncIterable<Uint8Array>;

const chunkBytes = 256 * 1024;

/** Returns a chunked body: streams have a deadline per chunk instead of one for the whole body. */
export function inChunks(bytes: Uint8Array): BodySource {
  return async function* chunks() {
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
  };
}

/** Parses a byte count from a header; undefined if it is malformed or absurdly large. */
export function byteCount(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** Reads a whole body of at most `limit` bytes; undefined if it is longer (the rest is not read). */
export async function readBody(body: ByteStream, limit: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > limit) {
      body.destroy();
      return undefined;
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
