/** Bytes as they arrive. A Readable is one. */
export interface ByteStream extends AsyncIterable<Buffer> {
  /** Ends it before its end. */
  destroy(): void;
}

/** Makes the body of a request, for every attempt anew. */
export type BodySource = () => Uint8Array | AsyncIterable<Uint8Array>;

const chunkBytes = 256 * 1024;

/** A body of chunks: a stream has a deadline for each chunk to be accepted, not for the whole. */
export function inChunks(bytes: Uint8Array): BodySource {
  return async function* chunks() {
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
  };
}

/** A number of bytes in a header; undefined if it is none, or one that no file has. */
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
