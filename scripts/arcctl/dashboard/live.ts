import type { Context, Hono } from 'hono';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import { ArcError } from '#shared/base/errors';
import { problemPage } from './views/other-pages.ts';
import { documentOf, mainOf, type Page } from './views/parts.ts';
import type { WatchedKind, Watches } from './watches.ts';

/** Often enough to look live, and cheap with thousands of artifacts. */
const pictureMs = 500;
/** What stands still is drawn again as well: its rate falls. It also shows both sides that the other is there. */
const quietMs = 15_000;
/** A browser keeps six connections to a server. */
const mostStreams = 30;

interface LiveOptions {
  watches: Watches;
  server: string;
  signal: AbortSignal;
}

/** Draws a page from what is followed at present. */
type Draw = (c: Context) => Page;

/**
 * Serves each page twice: as a document, and below /live as a stream of server-sent events named `page`, each the whole `main` of the
 * document, whenever it looks different. `createDraw` is called for each viewer.
 */
export function createLive(app: Hono, { watches, server, signal }: LiveOptions) {
  let streams = 0;
  return (path: string, kinds: readonly WatchedKind[], createDraw: () => Draw): void => {
    app.get(path, async (c) => {
      using look = watches.look(kinds);
      await look.ready(AbortSignal.any([c.req.raw.signal, signal]));
      return c.html(documentOf(createDraw()(c), server, livePath(c)));
    });
    app.get(`/live${path}`, (c) => {
      // Nobody would read the stream.
      if (c.req.method === 'HEAD') return c.body(null, 405);
      if (streams >= mostStreams || signal.aborted)
        return c.text('Too many pages are open: close some.\n', 503);
      streams += 1;
      // A stream that fails has nothing to say but that it ends: the browser opens another one.
      const end = () => {
        streams -= 1;
      };
      // A stream that fails has nothing to say but that it ends: the browser opens another one.
      return streamSSE(
        c,
        (stream) => follow(stream, c).finally(end),
        async () => {},
      );
    });

    async function follow(stream: SSEStreamingApi, c: Context): Promise<void> {
      const ending = new AbortController();
      const end = () => ending.abort();
      stream.onAbort(end);
      signal.addEventListener('abort', end, { once: true });
      using look = watches.look(kinds);
      try {
        await look.ready(ending.signal);
        const draw = createDraw();
        let last = '';
        while (!ending.signal.aborted) {
          const data = String(await mainOf(drawn(draw, c), livePath(c)));
          if (data !== last) await stream.writeSSE({ event: 'page', data });
          else await stream.write(': nothing new\n\n');
          last = data;
          await look.changed(pictureMs, quietMs, ending.signal);
        }
      } finally {
        signal.removeEventListener('abort', end);
      }
    }
  };
}

/** An Order may go while somebody looks at it. */
function drawn(draw: Draw, c: Context): Page['main'] {
  try {
    return draw(c).main;
  } catch (caught) {
    const { code, message } = ArcError.from(caught);
    return problemPage(code, message).main;
  }
}

function livePath(c: Context): string {
  const { pathname, search } = new URL(c.req.url);
  return `${pathname.startsWith('/live/') ? '' : '/live'}${pathname}${search}`;
}
