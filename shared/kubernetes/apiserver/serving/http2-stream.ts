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
  /** Called when the response asks for the connection to be closed, for which HTTP/2 has no header. */
  onLast(): void;
}

/** Bytes that are written before the client must have taken them: less than a stalled reader may take a minute for. */
const sliceBytes = 256 * 1024;

/** Sends the response of `api` to one request. Never rejects: a stream that cannot be answered is reset. */
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
  // What is left of the body of the request will not be read.
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

/** Writes a body as fast as the client reads it. A client that leaves cancels it. */
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

/** Writes all but the last slice, which it resolves with. */
async function writeSlices(stream: ServerHttp2Stream, bytes: Uint8Array): Promise<Uint8Array> {
  let from = 0;
  for (; bytes.byteLength - from > sliceBytes; from += sliceBytes)
    if (!stream.write(bytes.subarray(from, from + sliceBytes))) await drained(stream);
  return bytes.subarray(from);
}

/** Resolves when there is room again, or the stream has closed. */
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

/** A request as its handlers read it. */
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

/** The body of a request. Throws when its client resets the stream before the end, which looks like the end to a reader. */
async function* bodyOf(stream: ServerHttp2Stream): AsyncGenerator<Uint8Array> {
  // To stop reading must not end the response as well.
  yield* stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
  if (stream.rstCode !== constants.NGHTTP2_NO_ERROR || stream.aborted) throw new Error('the client has left');
}

/** Aborted when the client leaves before it has its response. */
function leftSignal(stream: ServerHttp2Stream): AbortSignal {
  const control = new AbortController();
  const leave = () => {
    if (stream.aborted || !stream.writableFinished) control.abort();
  };
  if (stream.destroyed) leave();
  else stream.once('close', leave);
  return control.signal;
}
