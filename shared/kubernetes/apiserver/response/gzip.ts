import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';

/** Responses from this size on are compressed, as in k8s.io/apiserver. */
export const gzipFrom = 128 * 1024;

/** True if the Accept-Encoding of a request names gzip. */
export function acceptsGzip(header: string | null): boolean {
  const codings = (header ?? '').split(',').map((coding) => coding.split(';').map((part) => part.trim()));
  return codings.some(([name, quality = 'q=1']) => name === 'gzip' && Number(quality.slice(2)) > 0);
}

/** Compresses off the event loop, at the level of k8s.io/apiserver. @param onError called when the source fails */
export function gzipped(
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  onError: (caught: unknown) => void,
): ReadableStream<Uint8Array> {
  const gzip = createGzip({ level: 1 });
  pipeline(source, gzip, (error) => {
    if (error && error.code !== 'ERR_STREAM_PREMATURE_CLOSE') onError(error);
  });
  return Readable.toWeb(gzip) as ReadableStream<Uint8Array>;
}
