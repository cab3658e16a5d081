import type { Context } from 'hono';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import { ArcError, printableLines } from '#shared/base/errors';
import type { Beat, Change, Row, View } from '../api.ts';
import type { Subscription, WatchedKind, Watches } from '../model/watches.ts';

/** Frame interval: smooth enough, and cheap with thousands of artifacts. */
const pictureMs = 500;
/** Heartbeat interval; stalled transfers are also updated, because their rate decreases. */
const beatMs = 5_000;
/** A browser allows six connections per server, and hidden pages close theirs. */
const mostStreams = 30;

/** The view of a page, and the kinds it depends on. */
export interface Topic {
  /** Without the first kind there is no view; the others are optional. */
  kinds: readonly WatchedKind[];
  /** Called for each viewer. The returned function computes a view of the current objects; it throws errors for the viewer. */
  open(c: Context): () => View;
}

interface LiveOptions {
  watches: Watches;
  signal: AbortSignal;
}

/**
 * Returns a handler that streams a topic as server-sent events until the client disconnects: `change` with the difference to the previous
 * view, `beat` every few seconds with current read errors, and `problem` while there is no view.
 */
export function createLive({ watches, signal }: LiveOptions) {
  let streams = 0;
  return (c: Context, topic: Topic): Response => {
    // A HEAD request would leave the stream unread.
    if (c.req.method === 'HEAD') return c.body(null, 405);
    if (streams >= mostStreams || signal.aborted)
      return c.json({ code: 'TooManyRequests', message: 'Too many open pages: close some.' }, 503);
    streams += 1;
    return streamSSE(
      c,
      (stream) =>
        follow(stream, c, topic).finally(() => {
          streams -= 1;
        }),
      // On an error the stream just ends: the browser reconnects.
      async () => {},
    );
  };

  async function sendAll(
    stream: SSEStreamingApi,
    draw: () => View,
    look: Subscription,
    kinds: readonly WatchedKind[],
    over: AbortSignal,
  ): Promise<void> {
    const changes = createChanges();
    let said = '';
    while (!over.aborted) {
      const drawn = computeView(watches, kinds, draw);
      const problem = 'text' in drawn ? drawn.text : '';
      const change = 'view' in drawn ? changes.next(drawn.view) : undefined;
      if (change) await send(stream, 'change', change);
      if (problem !== '' && problem !== said) await send(stream, 'problem', JSON.parse(problem));
      said = problem;
      await send(stream, 'beat', heartbeatOf(watches, kinds));
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

/** Replaces control characters from the cluster, such as those that change the text direction. */
function send(stream: SSEStreamingApi, event: string, value: object): Promise<void> {
  const data = JSON.stringify(value, (_, each) => (typeof each === 'string' ? printableLines(each) : each));
  return stream.writeSSE({ event, data });
}

/** Computes the view: an Order may have been deleted, and an unread list is an error instead of an empty list. */
function computeView(
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

function heartbeatOf(watches: Watches, kinds: readonly WatchedKind[]): Beat {
  const failures = kinds.map((kind) => watches[kind].failure).filter((failure) => failure !== undefined);
  const textOf = (some: readonly ArcError[]) => [...new Set(some.map(({ message }) => message))].join('\n');
  const problem = textOf(failures.filter(({ code }) => code !== 'Forbidden'));
  const refused = textOf(failures.filter(({ code }) => code === 'Forbidden'));
  return { ...(problem !== '' && { problem }), ...(refused !== '' && { refused }) };
}

/** Compares each view with the previous one. */
export function createChanges() {
  let values: Record<string, string> | undefined;
  const lists = new Map<string, Map<string, string>>();
  return {
    /** Returns the difference; undefined if there is none. The first one is complete. */
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
