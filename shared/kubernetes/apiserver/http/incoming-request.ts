/** The part of a `Request` that the server reads. A call from the same process has no more than this. */
export interface IncomingRequest {
  readonly method: string;
  /** Absolute. */
  readonly url: string;
  readonly headers: Pick<Headers, 'get' | 'keys'>;
  /** Aborted when the client has left. */
  readonly signal: AbortSignal;
  /** Null without one. */
  readonly body: AsyncIterable<Uint8Array> | null;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** The media type of the body in lower case, without parameters; '' when the client sends none. */
export function bodyType(request: IncomingRequest): string {
  const header = (request.headers.get('content-type') ?? '').trim().toLowerCase();
  return header.split(';')[0]?.trim() || header;
}

/** RFC 7231: a token, and a token or a text in quotes. */
const parameter = /^[\w!#$%&'*+.^`|~-]+=([\w!#$%&'*+.^`|~-]+|"[^"]*")$/;

/** As bodyType; the whole header where its parameters cannot be read, which no type equals. */
export function parsedBodyType(request: IncomingRequest): string {
  const header = request.headers.get('content-type') ?? '';
  const [, ...parameters] = header.split(';').map((part) => part.trim());
  if (parameters.at(-1) === '') parameters.pop();
  return parameters.every((each) => parameter.test(each)) ? bodyType(request) : header;
}
