import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';

/** The body of a response, whole or as a stream. */
export type Content = Uint8Array<ArrayBuffer> | string | ReadableStream<Uint8Array>;

const contents = new WeakMap<Response, Content>();

/** A response whose body can be had back as it was given: to read it out of a `Response` takes a stream. */
export function responseOf(content: Content, init: { status?: number; headers: Headers }): Response {
  const response = new Response(content, init);
  contents.set(response, content);
  return response;
}

/** The body of a response, which is read once: here or from the response itself. */
export function contentOf(response: Response): Content {
  const given = contents.get(response);
  // A response that has been cloned shares its stream with the copy.
  const isShared = isStream(given) && given.locked;
  return (isShared ? undefined : given) ?? response.body ?? '';
}

export function isStream(content: Content | undefined): content is ReadableStream<Uint8Array> {
  return typeof content === 'object' && 'getReader' in content;
}

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
