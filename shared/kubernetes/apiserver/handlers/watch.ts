import { randomInt } from 'node:crypto';
import { yieldToEventLoop } from '#shared/base/async';
import type { WatchBatch } from '#shared/kubernetes/storage';
import { toStatus } from '../errors/status.ts';
import { isSelected } from '../registry/item-summary.ts';
import { type KeyRange, rangeOf } from '../registry/keys.ts';
import { type Selection, selection } from '../registry/selectors.ts';
import { itemSlices } from '../registry/stored-object.ts';
import type { ResourceRequest } from '../request/api-request.ts';
import { includeObjectOf, respondWatch } from '../response/respond.ts';
import {
  bookmarkLine,
  type EventFormat,
  eventLine,
  joinLines,
  line,
  newLine,
  type WatchEvent,
  watchEventFor,
} from '../watch/encode-event.ts';
import { LineStream, nextFlush } from '../watch/line-stream.ts';
import { type ListOptions, listOptions } from './query-options.ts';
import { refuseWhileLoading, waitForRevision } from './read.ts';

const bookmarkIntervalMs = 60_000;

/** A running watch. */
interface WatchSession {
  request: ResourceRequest;
  options: ListOptions;
  range: KeyRange;
  selected: Selection;
  form: EventFormat;
  out: LineStream;
  /** Aborted when the client leaves or stalls, on timeout, or when the server shuts down. */
  stop: AbortController;
  /** All events up to this revision are sent. */
  revision: number;
  /** False while the store may be behind `revision`, which a bookmark must not confirm yet. */
  reached: boolean;
  /** True until the first event of a Table watch, which includes the column definitions. */
  columnsDue: boolean;
  /** True once the initial events are sent. Until then, no bookmark may be sent. */
  live: boolean;
}

/** Serves GET with watch=true: responds 200 immediately, then streams one JSON document per line until the timeout. */
export async function watchObjects(request: ResourceRequest): Promise<Response> {
  const options = listOptions(request.query, true);
  const { definition, server } = request;
  refuseWhileLoading(request, options);
  const selected = selection(definition, options.labelSelector, options.fieldSelector);
  const form = { as: request.format.as, includeObject: includeObjectOf(request.query) };
  const requested = options.resourceVersion ?? 0;
  // Without initial events the watch begins at the newest revision, otherwise at the revision of the list.
  const isFromNow = requested === 0 && options.sendInitialEvents === false;
  const stop = new AbortController();
  const session: WatchSession = {
    request,
    options,
    range: rangeOf(definition, request.namespace, selected),
    selected,
    form,
    out: new LineStream(stop),
    stop,
    revision: isFromNow ? await server.store.revision() : requested,
    reached: isFromNow,
    columnsDue: form.as === 'Table',
    live: false,
  };
  run(session).catch((caught: unknown) => server.log('a watch ended unexpectedly', caught));
  return respondWatch(request, session.out.body);
}

async function run(session: WatchSession): Promise<void> {
  const { request, options, out, stop } = session;
  const seconds = options.timeoutSeconds || randomInt(1800, 3600);
  const end = () => stop.abort();
  const timer = setTimeout(end, Math.min(seconds, 86_400) * 1000);
  const failed = (caught: unknown) => request.server.log('a bookmark could not be sent', caught);
  const bookmarks = setInterval(() => bookmark(session, false).catch(failed), bookmarkIntervalMs);
  let spread: NodeJS.Timeout | undefined;
  const close = () => {
    spread = setTimeout(end, Math.random() * request.server.spreadMs());
  };
  const { signal } = request.raw;
  const { closing } = request.server;
  signal.addEventListener('abort', end);
  closing.addEventListener('abort', close);
  if (signal.aborted || closing.aborted) end();
  try {
    await sendEvents(session);
    await bookmark(session, false);
  } catch (caught) {
    if (!stop.signal.aborted) out.write(line('ERROR', toStatus(caught)));
  } finally {
    clearTimeout(timer);
    clearInterval(bookmarks);
    clearTimeout(spread);
    signal.removeEventListener('abort', end);
    closing.removeEventListener('abort', close);
    out.end();
  }
}

/** Sends the initial state if requested, then events until `stop`. */
async function sendEvents(session: WatchSession): Promise<void> {
  const { request, options, selected, range, stop, out } = session;
  const fromNow = (options.resourceVersion ?? 0) === 0;
  if (options.sendInitialEvents ?? fromNow) await sendInitial(session);
  session.live = true;
  if (options.sendInitialEvents && options.allowBookmarks) await bookmark(session, true);
  const after = session.revision;
  const { prefix, key } = range;
  for await (const batch of request.server.store.watch(key ?? prefix, { after, signal: stop.signal })) {
    // A watch may begin at a future revision, and the key of one object may be a prefix of other keys.
    const events = batch.events.filter(
      (event) => event.revision > after && (key === undefined || event.key === key),
    );
    write(
      session,
      events.flatMap((event) => watchEventFor(request.definition, selected, event) ?? []),
    );
    session.reached ||= progress(batch) >= after;
    session.revision = Math.max(session.revision, progress(batch));
    await out.drained();
    // Batching saves TLS and socket writes; an in-process reader has neither.
    if (events.length > 0 && request.hasSocket) await nextFlush();
    if (stop.signal.aborted) return;
  }
}

function progress(batch: WatchBatch): number {
  return Math.max(batch.revision, batch.events.at(-1)?.revision ?? 0);
}

async function sendInitial(session: WatchSession): Promise<void> {
  const { request, options, range, selected, stop, out } = session;
  const { definition, server } = request;
  const atLeast = options.resourceVersion;
  const { signal } = stop;
  // Like kube-apiserver, responds 200 and sends an ERROR event if the revision is not reached in time: after an HTTP 504, clients retry ten
  // times before they relist.
  if (atLeast) await waitForRevision(request, atLeast);
  const { items, revision } = await server.store.list(range.key ?? range.prefix, {
    signal,
    ...(atLeast !== undefined && { atLeast }),
  });
  // Hundreds of watches may wait for slow readers: each buffers at most one slice.
  for (const slice of itemSlices(items)) {
    const chosen = slice.filter((item) => isSelected(definition, selected, item));
    write(
      session,
      chosen.map((item) => ({ type: 'ADDED', item, revision: item.revision })),
    );
    await out.drained();
    await yieldToEventLoop();
    if (signal.aborted) return;
  }
  session.revision = revision;
  session.reached = true;
}

/** Writes events as one chunk. */
function write(session: WatchSession, events: readonly WatchEvent[]): void {
  if (events.length > 0) session.out.write(joinLines(events.map((seen) => lineOf(session, seen))));
}

function lineOf(session: WatchSession, seen: WatchEvent): Uint8Array {
  const { definition, server } = session.request;
  const form = { ...session.form, now: server.now() };
  // Initial events are not shared with other watches.
  const isUnshared = session.columnsDue || !session.live;
  const line = isUnshared
    ? newLine(definition, seen, form, session.columnsDue)
    : eventLine(definition, seen, form);
  session.columnsDue = false;
  server.onWatchEvent?.(definition, line.byteLength);
  return line;
}

async function bookmark(session: WatchSession, initialEnd: boolean): Promise<void> {
  const { request, form, out, options } = session;
  if (!session.live || !(options.allowBookmarks || initialEnd)) return;
  session.reached ||= (await request.server.store.revision()) >= session.revision;
  if (session.reached) out.write(bookmarkLine(request.definition, form.as, session.revision, initialEnd));
}
