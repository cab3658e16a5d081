import type { Context } from 'hono';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import { ArcError, printableLines } from '#shared/base/errors';
import type { Beat, Change, Row, View } from '../api.ts';
import type { Look, WatchedKind, Watches } from '../model/watches.ts';

/** Often enough to look live, and cheap with thousands of artifacts. */
const pictureMs = 500;
/** How often the page hears that the server is there; what stands still is drawn again as well, as its rate falls. */
const beatMs = 5_000;
/** A browser keeps six connections to a server, and a page that nobody sees keeps none. */
const mostStreams = 30;

/** What a page shows, and what is followed for it. */
export interface Topic {
  /** Without the first there is nothing to show; the others may be refused. */
  kinds: readonly WatchedKind[];
  /** Is called for each viewer. What it returns makes a view of what is followed at present; it throws what the viewer is told. */
  open(c: Context): () => View;
}

interface LiveOptions {
  watches: Watches;
  signal: AbortSignal;
}

/**
 * Returns what answers with a topic as server-sent events, until the viewer goes: `change` whenever the view differs, with what differs alone;
 * `beat` every few seconds, with what cannot be read at present; `problem` where there is nothing to show, which may end.
 */
export function createLive({ watches, signal }: LiveOptions) {
  let streams = 0;
  return (c: Context, topic: Topic): Response => {
    // Nobody would read the stream.
    if (c.req.method === 'HEAD') return c.body(null, 405);
    if (streams >= mostStreams || signal.aborted)
      return c.json({ code: 'TooManyRequests', message: 'Too many pages are open: close some.' }, 503);
    streams += 1;
    return streamSSE(
      c,
      (stream) =>
        follow(stream, c, topic).finally(() => {
          streams -= 1;
        }),
      // A stream that fails has nothing to say but that it ends: the browser opens another one.
      async () => {},
    );
  };

  async function sendAll(
    stream: SSEStreamingApi,
    draw: () => View,
    look: Look,
    kinds: readonly WatchedKind[],
    over: AbortSignal,
  ): Promise<void> {
    const changes = createChanges();
    let said = '';
    while (!over.aborted) {
      const drawn = attempt(watches, kinds, draw);
      const problem = 'text' in drawn ? drawn.text : '';
      const change = 'view' in drawn ? changes.next(drawn.view) : undefined;
      if (change) await send(stream, 'change', change);
      if (problem !== '' && problem !== said) await send(stream, 'problem', JSON.parse(problem));
      said = problem;
      await send(stream, 'beat', beatOf(watches, kinds));
      await look.changed(pictureMs, beatMs, over);
    }
  }

  async function follow(stream: SSEStreamingApi, c: Context, { kinds, open }: Topic): Promise<void> {
    const ending = new AbortController();
    const end = () => ending.abort();
    stream.onAbort(end);
    signal.addEventListener('abort', end, { once: true });
    using look = watches.look(kinds);
    try {
      await look.ready(ending.signal);
      await sendAll(stream, open(c), look, kinds, ending.signal);
    } catch (caught) {
      const { code, message } = ArcError.from(caught);
      if (!ending.signal.aborted) await send(stream, 'problem', { code, message });
    } finally {
      signal.removeEventListener('abort', end);
    }
  }
}

/** What comes from a cluster may have characters that change the direction of what stands beside them. */
function send(stream: SSEStreamingApi, event: string, value: object): Promise<void> {
  const data = JSON.stringify(value, (_, each) => (typeof each === 'string' ? printableLines(each) : each));
  return stream.writeSSE({ event, data });
}

/** An Order may go while somebody looks at it, and a list that was never read is not an empty one. */
function attempt(
  watches: Watches,
  [first]: readonly WatchedKind[],
  draw: () => View,
): { view: View } | { text: string } {
  const main = first && watches[first];
  try {
    if (main?.failure && !main.isSynced) throw main.failure;
    return { view: draw() };
  } catch (caught) {
    const { code, message } = ArcError.from(caught);
    return { text: JSON.stringify({ code, message }) };
  }
}

function beatOf(watches: Watches, kinds: readonly WatchedKind[]): Beat {
  const failures = kinds.map((kind) => watches[kind].failure).filter((failure) => failure !== undefined);
  const texts = [...new Set(failures.map(({ message }) => message))];
  return texts.length === 0 ? {} : { problem: texts.join('\n') };
}

/** Compares views with the one before. */
export function createChanges() {
  let values: Record<string, string> | undefined;
  const lists = new Map<string, Map<string, string>>();
  return {
    /** Returns what differs; undefined where nothing does. The first is whole. */
    next(view: View): Change | undefined {
      const isWhole = values === undefined;
      const texts = Object.fromEntries(
        Object.entries(view.values).map(([name, value]) => [name, textOf(value)]),
      );
      const changed = Object.entries(view.values).filter(([name]) => texts[name] !== values?.[name]);
      values = texts;
      const parts = Object.entries(view.lists).map(([name, rows]) => {
        const before = lists.get(name) ?? new Map<string, string>();
        const now = new Map(rows.map((row) => [row.id, JSON.stringify(row)]));
        lists.set(name, now);
        return [name, differenceOf(rows, before, now)] as const;
      });
      const differing = parts.filter(([, { set, gone }]) => isWhole || set.length > 0 || gone.length > 0);
      if (!isWhole && changed.length === 0 && differing.length === 0) return undefined;
      return { isWhole, values: Object.fromEntries(changed), lists: Object.fromEntries(differing) };
    },
  };
}

function differenceOf(
  rows: readonly Row[],
  before: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>,
): { set: Row[]; gone: string[] } {
  return {
    set: rows.filter(({ id }) => before.get(id) !== now.get(id)),
    gone: [...before.keys()].filter((id) => !now.has(id)),
  };
}

function textOf(value: unknown): string {
  return JSON.stringify(value) ?? '';
}
