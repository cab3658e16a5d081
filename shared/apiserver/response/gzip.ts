import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';

/** Bytes from which on a response is worth compressing; as in k8s.io/apiserver. */
export const gzipFrom = 128 * 1024;

/** True if the Accept-Encoding of a request names gzip. */
export function acceptsGzip(header: string | null): boolean {
  const codings = (header ?? '').split(',').map((coding) => coding.split(';').map((part) => part.trim()));
  return codings.some(([name, quality = 'q=1']) => name === 'gzip' && Number(quality.slice(2)) > 0);
}

/** Compresses beside the event loop, at the level of k8s.io/apiserver. `broke` is told why the source ended early. */
export function gzipped(
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  broke: (caught: unknown) => void,
): ReadableStream<Uint8Array> {
  const gzip = createGzip({ level: 1 });
  pipeline(source, gzip, (error) => {
    if (error && error.code !== 'ERR_STREAM_PREMATURE_CLOSE') broke(error);
  });
  return Readable.toWeb(gzip) as ReadableStream<Uint8Array>;
}
