import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { IncomingRequest } from '../http/connection.ts';
import { type Content, contentOf, isStream } from '../response/content.ts';
import type { ApiServer } from '../server/server.ts';

export interface Http2Request {
  stream: ServerHttp2Stream;
  headers: IncomingHttpHeaders;
  rawHeaders: string[];
  socket: TLSSocket;
  /** Called if the response requests `connection: close`, which HTTP/2 expresses as GOAWAY. */
  onLast(): void;
}

/** Write size: small enough that a slow reader shows progress within the stall timeout. */
const sliceBytes = 256 * 1024;

/** Responds to one request. Never rejects: on an unexpected failure the stream is reset. */
export async function answerStream(request: Http2Request, api: Pick<ApiServer, 'call'>): Promise<void> {
  const { stream } = request;
  try {
    await answer(request, api);
  } catch {
    stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  }
}

async function answer(request: Http2Request, api: Pick<ApiServer, 'call'>): Promise<void> {
  const { stream, headers, rawHeaders, socket, onLast } = request;
  const { ':method': method = '', ':path': target = '', expect } = headers;
  // CONNECT has no path, and URL would read a backslash as a slash.
  if (!/^\/[^\\?]*(\?|$)/.test(target)) return stream.respond({ ':status': 400 }, { endStream: true });
  if (expect === '100-continue') stream.additionalHeaders({ ':status': 100 });
  else if (expect !== undefined) return stream.respond({ ':status': 417 }, { endStream: true });
  let bytesWritten = 0;
  const { response } = await api.call(new StreamRequest(stream, method, target, headers), {
    incoming: { url: target, rawHeaders, socket },
    outgoing: stream,
    bytesWritten: () => bytesWritten,
  });
  const content = contentOf(response);
  const isWhole = !isStream(content);
  if (stream.closed) return isWhole ? undefined : content.cancel();
  const head: Record<string, string | number> = { ':status': response.status };
  for (const [name, value] of response.headers) if (name !== 'connection') head[name] = value;
  if (isWhole && response.status !== 304) head['content-length'] = Buffer.byteLength(content);
  if (response.headers.get('connection') === 'close') onLast();
  // The rest of the request body is not read.
  if (!stream.endAfterHeaders) stream.once('finish', () => stream.readableEnded || stream.close());
  if (method === 'HEAD' || content === '') {
    stream.respond(head, { endStream: true });
    return isWhole ? undefined : content.cancel();
  }
  stream.respond(head);
  await write(stream, content, (bytes) => {
    bytesWritten += bytes;
  });
}

/** Writes a body with backpressure. The body is cancelled when the client disconnects. */
async function write(stream: ServerHttp2Stream, content: Content, onWritten: (bytes: number) => void) {
  if (!isStream(content)) {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    onWritten(bytes.byteLength);
    stream.end(await writeSlices(stream, bytes));
    return;
  }
  const reader = content.getReader();
  stream.once('close', () => reader.cancel().catch(() => undefined));
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    onWritten(next.value.byteLength);
    if (!stream.write(await writeSlices(stream, next.value))) await drained(stream);
  }
  stream.end();
}

/** Writes all but the last slice, and returns that slice. */
async function writeSlices(stream: ServerHttp2Stream, bytes: Uint8Array): Promise<Uint8Array> {
  let from = 0;
  for (; bytes.byteLength - from > sliceBytes; from += sliceBytes)
    if (!stream.write(bytes.subarray(from, from + sliceBytes))) await drained(stream);
  return bytes.subarray(from);
}

/** Resolves on `drain`, or when the stream closes. */
function drained(stream: ServerHttp2Stream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed) return resolve();
    const done = () => {
      stream.off('drain', done);
      stream.off('close', done);
      resolve();
    };
    stream.once('drain', done);
    stream.once('close', done);
  });
}

/** Adapts a stream to the request interface of the handlers. */
class StreamRequest implements IncomingRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingRequest['headers'];
  readonly body: AsyncIterable<Uint8Array> | null;
  readonly #stream: ServerHttp2Stream;
  #signal: AbortSignal | undefined;

  constructor(stream: ServerHttp2Stream, method: string, target: string, headers: IncomingHttpHeaders) {
    this.#stream = stream;
    this.method = method;
    // The host does not matter: only path and query are used.
    this.url = `https://localhost${target}`;
    this.headers = {
      get: (name) => headers[name.toLowerCase()]?.toString() ?? null,
      keys: () =>
        Object.keys(headers)
          .filter((name) => !name.startsWith(':'))
          .values(),
    };
    this.body = stream.endAfterHeaders ? null : bodyOf(stream);
  }

  get signal(): AbortSignal {
    this.#signal ??= leftSignal(this.#stream);
    return this.#signal;
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of this.body ?? []) chunks.push(chunk);
    return new Uint8Array(Buffer.concat(chunks)).buffer;
  }
}

/** Yields the request body. Throws if the client resets the stream early, which Node reports as a normal end. */
async function* bodyOf(stream: ServerHttp2Stream): AsyncGenerator<Uint8Array> {
  // Ending the iteration early must not destroy the stream: the response is still written.
  yield* stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
  if (stream.rstCode !== constants.NGHTTP2_NO_ERROR || stream.aborted) throw new Error('the client has left');
}

/** Returns a signal that is aborted if the client disconnects before it has received the response. */
function leftSignal(stream: ServerHttp2Stream): AbortSignal {
  const control = new AbortController();
  const leave = () => {
    if (stream.aborted || !stream.writableFinished) control.abort();
  };
  if (stream.destroyed) leave();
  else stream.once('close', leave);
  return control.signal;
}
