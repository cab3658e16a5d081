import { channel } from 'node:diagnostics_channel';
import { setImmediate as turn } from 'node:timers/promises';
import { untilAborted } from '#shared/base/async';
import type { Served } from '#shared/conduit/runtime';
import { type Broker, type Post, type SendPost, sendOverHttp } from '#shared/local';
import type { LocalSink } from '../../functions/watch-bridge/index.ts';

/** Told of each event that is given to a function: `{ request: { headers } }`, as `http.server.request.start` is of one over the wire. */
export const sentChannel = 'arc.event.sent';
/** The same when it has answered, as `http.server.response.finish`. */
export const answeredChannel = 'arc.event.answered';
const sent = channel(sentChannel);
const answered = channel(answeredChannel);

/** How long an event that functions are at work on counts as under way for the bridge, ms: as long as a broker may take to answer. */
const longestHold = 2_000;

/** The broker of this process as the bridge's. It answers when the functions have, as an in-memory channel does. */
export function sinkOf(broker: Broker): LocalSink {
  return {
    async take(headers, body) {
      // Many events at once would otherwise keep everybody else waiting.
      await turn();
      const { status, handled } = broker.take({ headers, body: Buffer.from(body) });
      const hold = Promise.withResolvers<void>();
      const timer = setTimeout(hold.resolve, longestHold);
      await Promise.race([handled, hold.promise]);
      clearTimeout(timer);
      return { status, retryAfter: undefined };
    },
  };
}

type Take = Served['fetch'];

/** Gives events to functions of this process without a connection, by the origins of their URLs. All others go over HTTP. */
export function sendInProcess(functions: ReadonlyMap<string, Take>): SendPost {
  return async (url, post, signal) => {
    const take = functions.get(url.origin);
    if (take === undefined) return sendOverHttp(url, post, signal);
    const { headers } = post;
    sent.publish({ request: { headers } });
    const taken = (async () => take(requestOf(url, post), { incoming: { headers } }))();
    const response = await untilAborted(taken, signal);
    const body = response.status === 204 ? none : Buffer.from(await response.arrayBuffer());
    answered.publish({ request: { headers } });
    return { status: response.status, headers: Object.fromEntries(response.headers), body };
  };
}

const none = Buffer.alloc(0);

/** A POST with all that a function reads of one. A `Request` would copy its headers and make a stream of its body. */
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
