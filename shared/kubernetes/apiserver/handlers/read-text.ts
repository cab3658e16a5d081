import type { TextPart } from '../kinds/definition.ts';
import { decodeObject } from '../registry/stored-object.ts';
import type { ResourceRequest } from '../request/api-request.ts';
import { isTrue } from '../request/request-info.ts';
import { respondText, respondTextStream } from '../response/respond.ts';
import { LineStream } from '../watch/line-stream.ts';
import { readItem } from './read.ts';

/** GET of a text of an object, with follow=true while it is written. */
export async function getText(request: ResourceRequest, part: TextPart): Promise<Response> {
  const object = decodeObject(await readItem(request));
  const { query } = request;
  const pieces = isTrue(query.get('follow')) ? part.follow?.(object, query) : undefined;
  return pieces ? followText(request, pieces) : respondText(request, part.read(object, query));
}

/** 200 at once, then each piece as it comes, until there are no more, the client leaves or the server closes. */
function followText(
  request: ResourceRequest,
  pieces: (signal: AbortSignal) => AsyncIterable<string>,
): Response {
  const { raw, server } = request;
  const stop = new AbortController();
  const out = new LineStream(stop);
  const end = () => stop.abort();
  raw.signal.addEventListener('abort', end);
  if (request.endsByItself) request.onEnd(end);
  server.closing.addEventListener('abort', end);
  if (raw.signal.aborted || server.closing.aborted) end();
  const send = async () => {
    try {
      for await (const piece of pieces(stop.signal)) {
        out.write(Buffer.from(piece));
        await out.drained();
      }
    } finally {
      raw.signal.removeEventListener('abort', end);
      server.closing.removeEventListener('abort', end);
      out.end();
    }
  };
  send().catch((caught: unknown) => server.log('a text that was followed ended unexpectedly', caught));
  return respondTextStream(request, out.body);
}
