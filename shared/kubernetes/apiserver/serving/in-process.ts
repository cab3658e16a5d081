import { channel } from 'node:diagnostics_channel';
import { setImmediate as turn } from 'node:timers/promises';
import { untilAborted } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import type { IncomingRequest } from '../http/connection.ts';
import { type Content, contentOf, isStream } from '../response/content.ts';
import type { ApiServer } from '../server/server.ts';

/** The part of `fetch` that a client of this process uses; headers by their names in lower case. */
export type Call = (
  url: string,
  init: { method: string; headers: Record<string, string>; body: string | null; signal: AbortSignal },
) => Promise<CallAnswer>;

/** Read once, by `text` or as `body`. */
export interface CallAnswer {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: AsyncIterable<Uint8Array>;
  text(): Promise<string>;
}

/** Told of each call as `http.server.request.start` is of a request over the wire: `{ request: { method, url, headers } }`. */
export const callChannel = 'arc.apiserver.call';
const calls = channel(callChannel);

/**
 * Requests to a server of the same process. They go through the whole chain as those over TLS do, from authentication on; what they save is
 * the connection: encryption, HTTP and the streams of both ends are most of what a short request costs.
 */
export function inProcess(api: ApiServer): Call {
  return async (url, init) => {
    init.signal.throwIfAborted();
    // A caller that asks for one thing after the other would otherwise keep everybody else waiting.
    await turn();
    if (calls.hasSubscribers) {
      const { pathname, search } = new URL(url);
      calls.publish({ request: { ...init, url: `${pathname}${search}` } });
    }
    if (api.closing.aborted) throw new ArcError('ServiceUnavailable', 'the API server has ended');
    const { response, end } = await answerOf(api.call(incoming(url, init)), init.signal);
    const body = bodyOf(contentOf(response), init.signal, end);
    return { ok: response.ok, status: response.status, headers: response.headers, ...body };
  };
}

type Answered = Awaited<ReturnType<ApiServer['call']>>;

/** What the server answers, unless `signal` is aborted before: an answer that comes later is dropped. */
async function answerOf(answered: Promise<Answered>, signal: AbortSignal): Promise<Answered> {
  try {
    return await untilAborted(answered, signal);
  } catch (caught) {
    // A call that failed has no answer to drop.
    answered.then(({ response, end }) => bodyOf(contentOf(response), signal, end)).catch(() => undefined);
    throw caught;
  }
}

function incoming(url: string, { method, headers, body, signal }: Parameters<Call>[1]): IncomingRequest {
  const bytes = body === null ? undefined : new TextEncoder().encode(body);
  const all = new Map(Object.entries(headers));
  if (bytes) all.set('content-length', String(bytes.byteLength));
  return {
    method,
    url,
    signal,
    body: null,
    headers: { get: (name) => all.get(name.toLowerCase()) ?? null, keys: () => all.keys() },
    arrayBuffer: () => Promise.resolve(bytes?.buffer ?? new ArrayBuffer()),
  };
}

/** `end` is called when the body has been read, or nobody will: its reader has left, or `signal` was aborted. */
function bodyOf(content: Content, signal: AbortSignal, end: () => void): Pick<CallAnswer, 'body' | 'text'> {
  if (isStream(content)) {
    const body = chunksOf(content.getReader(), signal, end);
    return { body, text: () => readText(body) };
  }
  // What is there as a whole has been sent.
  end();
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  return { body: once(bytes), text: () => Promise.resolve(utf8(bytes)) };
}

/** The chunks of a stream, which is let go of when they end. An abort rejects with its reason. */
function chunksOf(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  signal: AbortSignal,
  end: () => void,
): AsyncIterable<Uint8Array> {
  const leave = () => {
    signal.removeEventListener('abort', leave);
    reader.cancel().catch(() => undefined);
    end();
  };
  signal.addEventListener('abort', leave);
  if (signal.aborted) leave();
  return (async function* () {
    try {
      for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
      signal.throwIfAborted();
    } finally {
      leave();
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
