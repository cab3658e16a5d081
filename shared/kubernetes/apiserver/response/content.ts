import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';

/** The body of a response, whole or as a stream. */
export type Content = Uint8Array<ArrayBuffer> | string | ReadableStream<Uint8Array>;

const contents = new WeakMap<Response, Content>();

/** Returns a response whose body contentOf returns without the overhead of a stream. */
export function responseOf(content: Content, init: { status?: number; headers: Headers }): Response {
  const response = new Response(content, init);
  contents.set(response, content);
  return response;
}

/** Returns the body of a response. Read it once, here or from the response. */
export function contentOf(response: Response): Content {
  const content = contents.get(response);
  // Cloning a response locks its stream and replaces response.body.
  const isCloned = isStream(content) && content.locked;
  return (isCloned ? undefined : content) ?? response.body ?? '';
}

export function isStream(content: Content | undefined): content is ReadableStream<Uint8Array> {
  return typeof content === 'object' && 'getReader' in content;
}

/** Minimum size of compressed responses, as in k8s.io/apiserver. */
export const gzipFrom = 128 * 1024;

/** Tells whether an Accept-Encoding header accepts gzip. */
export function acceptsGzip(header: string | null): boolean {
  const codings = (header ?? '').split(',').map((coding) => coding.split(';').map((part) => part.trim()));
  return codings.some(([name, quality = 'q=1']) => name === 'gzip' && Number(quality.slice(2)) > 0);
}

/** Compresses in the thread pool, at the level of k8s.io/apiserver. @param onError called when the source fails */
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
