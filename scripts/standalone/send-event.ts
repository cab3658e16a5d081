import { channel } from 'node:diagnostics_channel';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { untilAborted } from '#shared/base/async';
import type { Served } from '#shared/conduit/runtime';
import { type Broker, type Post, type SendPost, sendOverHttp } from '#shared/local';
import type { LocalSink } from '../../functions/watch-bridge/index.ts';

/** Diagnostics channel: published for each in-process event as `{ request: { headers } }`, like `http.server.request.start` for HTTP. */
export const sentChannel = 'arc.event.sent';
/** The same after the response, like `http.server.response.finish`. */
export const answeredChannel = 'arc.event.answered';
const sent = channel(sentChannel);
const answered = channel(answeredChannel);

/** Time in milliseconds during which an event counts as in flight for the bridge: the maximum response time of a broker. */
const maxInFlightMs = 2_000;

/** Adapts the in-process broker to the bridge's sink. It responds after the functions, like an in-memory channel. */
export function sinkOf(broker: Broker): LocalSink {
  return {
    async take(headers, body) {
      // Many events at once would block the event loop.
      await yieldToEventLoop();
      const { status, handled } = broker.take({ headers, body: Buffer.from(body) });
      const timeout = Promise.withResolvers<void>();
      const timer = setTimeout(timeout.resolve, maxInFlightMs);
      await Promise.race([handled, timeout.promise]);
      clearTimeout(timer);
      return { status, retryAfter: undefined };
    },
  };
}

type Handler = Served['fetch'];

/** Sends events to in-process functions by the origin of their URL, and all others over HTTP. */
export function sendInProcess(functions: ReadonlyMap<string, Handler>): SendPost {
  return async (url, post, signal) => {
    const handle = functions.get(url.origin);
    if (handle === undefined) return sendOverHttp(url, post, signal);
    const { headers } = post;
    sent.publish({ request: { headers } });
    const handled = (async () => handle(requestOf(url, post), { incoming: { headers } }))();
    const response = await untilAborted(handled, signal);
    const body = response.status === 204 ? none : Buffer.from(await response.arrayBuffer());
    answered.publish({ request: { headers } });
    return { status: response.status, headers: Object.fromEntries(response.headers), body };
  };
}

const none = Buffer.alloc(0);

/** Builds a minimal POST request. A real `Request` would copy its headers and turn its body into a stream. */
function requestOf(url: URL, { headers, body = none }: Post): Request {
  const bytes = new Uint8Array(body);
  const request = {
    method: 'POST',
    url: url.href,
    body: null,
    headers: { get: (name: string) => headers[name.toLowerCase()] ?? null },
    arrayBuffer: () => Promise.resolve(bytes.buffer),
  };
  return request as Request;
}
