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
