import type { TextSubresource } from '../kinds/definition.ts';
import { decodeObject } from '../registry/stored-object.ts';
import type { ResourceRequest } from '../request/api-request.ts';
import { isTrue } from '../request/request-info.ts';
import { respondText, respondTextStream } from '../response/respond.ts';
import { LineStream } from '../watch/line-stream.ts';
import { readItem } from './read.ts';

/** Serves GET of a text subresource; with follow=true, streams it while it grows. */
export async function getText(request: ResourceRequest, part: TextSubresource): Promise<Response> {
  const object = decodeObject(await readItem(request));
  const { query } = request;
  const pieces = isTrue(query.get('follow')) ? part.follow?.(object, query) : undefined;
  return pieces ? followText(request, pieces) : respondText(request, part.read(object, query));
}

/** Responds 200 immediately and streams pieces until the text ends, the client leaves or the server shuts down. */
function followText(
  request: ResourceRequest,
  pieces: (signal: AbortSignal) => AsyncIterable<string>,
): Response {
  const { raw, server } = request;
  const stop = new AbortController();
  const out = new LineStream(stop);
  const end = () => stop.abort();
  raw.signal.addEventListener('abort', end);
  if (request.hasSocket) request.onEnd(end);
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
  send().catch((caught: unknown) =>
    server.log('the stream of a text subresource ended unexpectedly', caught),
  );
  return respondTextStream(request, out.body);
}
