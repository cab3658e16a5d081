import { channel } from 'node:diagnostics_channel';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { untilAborted } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import type { IncomingRequest } from '../http/connection.ts';
import { type Content, contentOf, isStream } from '../response/content.ts';
import type { ApiServer } from '../server/server.ts';

/** The subset of `fetch` for clients in the same process. Header names are lower case. */
export type Call = (
  url: string,
  init: { method: string; headers: Record<string, string>; body: string | null; signal: AbortSignal },
) => Promise<CallResponse>;

/** Can be read once, by `text` or through `body`. */
export interface CallResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: AsyncIterable<Uint8Array>;
  text(): Promise<string>;
}

/** Diagnostics channel of in-process calls: publishes `{ request: { method, url, headers } }` like `http.server.request.start`. */
export const callChannel = 'arc.apiserver.call';
/** Diagnostics channel of their responses: publishes `{ request, response: { statusCode } }` like `http.server.response.finish`. */
export const answerChannel = 'arc.apiserver.answer';
const calls = channel(callChannel);
const answers = channel(answerChannel);

/**
 * Returns a `fetch` that calls a server in the same process. Requests pass the whole handler chain, including authentication. They save the
 * connection: TLS, HTTP and the streams of both ends account for most of the cost of a short request.
 */
export function inProcess(api: ApiServer): Call {
  return async (url, init) => {
    init.signal.throwIfAborted();
    // Sequential calls of one client would otherwise starve timers and I/O.
    await yieldToEventLoop();
    const about = () => {
      const { pathname, search } = new URL(url);
      return { ...init, url: `${pathname}${search}` };
    };
    if (calls.hasSubscribers) calls.publish({ request: about() });
    if (api.closing.aborted) throw new ArcError('ServiceUnavailable', 'the API server is shut down');
    const { response, end } = await resultUntilAborted(api.call(requestOf(url, init)), init.signal);
    if (answers.hasSubscribers)
      answers.publish({ request: about(), response: { statusCode: response.status } });
    const body = bodyOf(contentOf(response), init.signal, end);
    return { ok: response.ok, status: response.status, headers: response.headers, ...body };
  };
}

type CallResult = Awaited<ReturnType<ApiServer['call']>>;

/** Resolves with the response. Rejects when `signal` is aborted before; a later response is released unread. */
async function resultUntilAborted(result: Promise<CallResult>, signal: AbortSignal): Promise<CallResult> {
  try {
    return await untilAborted(result, signal);
  } catch (caught) {
    // A rejected call has no response to release.
    result.then(({ response, end }) => bodyOf(contentOf(response), signal, end)).catch(() => undefined);
    throw caught;
  }
}

function requestOf(url: string, { method, headers, body, signal }: Parameters<Call>[1]): IncomingRequest {
  const bytes = body === null ? undefined : new TextEncoder().encode(body);
  const entries = new Map(Object.entries(headers));
  if (bytes) entries.set('content-length', String(bytes.byteLength));
  return {
    method,
    url,
    signal,
    body: null,
    headers: { get: (name) => entries.get(name.toLowerCase()) ?? null, keys: () => entries.keys() },
    arrayBuffer: () => Promise.resolve(bytes?.buffer ?? new ArrayBuffer()),
  };
}

/** Calls `end` when the body has been read to its end, its reader has left, or `signal` is aborted. */
function bodyOf(content: Content, signal: AbortSignal, end: () => void): Pick<CallResponse, 'body' | 'text'> {
  if (isStream(content)) {
    const body = chunksOf(content.getReader(), signal, end);
    return { body, text: () => readText(body) };
  }
  // A body that is not a stream is complete already.
  end();
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  return { body: once(bytes), text: () => Promise.resolve(utf8(bytes)) };
}

/** Yields the chunks of a stream and then releases it. Rejects with the reason of an abort. */
function chunksOf(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  signal: AbortSignal,
  end: () => void,
): AsyncIterable<Uint8Array> {
  const release = () => {
    signal.removeEventListener('abort', release);
    reader.cancel().catch(() => undefined);
    end();
  };
  signal.addEventListener('abort', release);
  if (signal.aborted) release();
  return (async function* () {
    try {
      for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
      signal.throwIfAborted();
    } finally {
      release();
    }
  })();
}

async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return utf8(Buffer.concat(chunks));
}

function utf8({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('utf8');
}

async function* once<T>(value: T): AsyncGenerator<T> {
  yield value;
}
