import { randomInt } from 'node:crypto';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { WatchBatch } from '#shared/storage';
import { toStatus } from '../errors/status.ts';
import { isSelected } from '../registry/item-summary.ts';
import { type KeyRange, rangeOf } from '../registry/keys.ts';
import { type Selection, selection } from '../registry/selectors.ts';
import type { ResourceRequest } from '../request/api-request.ts';
import { includeObjectOf, respondWatch } from '../response/respond.ts';
import {
  bookmarkLine,
  type EventFormat,
  eventLine,
  line,
  newLine,
  type WatchEvent,
  watchEventFor,
} from '../watch/encode-event.ts';
import { nextFlush } from '../watch/flush-timer.ts';
import { LineStream } from '../watch/line-stream.ts';
import { type ListOptions, listOptions } from './list-options.ts';
import { refuseWhileLoading, waitForRevision } from './read.ts';

const bookmarkEvery = 60_000;
/** Objects of the initial list that are written before others get their turn. */
const sliceItems = 500;

/** A watch as it runs: what it prints, and how far it has seen. */
interface WatchSession {
  request: ResourceRequest;
  options: ListOptions;
  range: KeyRange;
  selected: Selection;
  form: EventFormat;
  out: LineStream;
  /** Aborted when the client leaves, the time is up, the server closes or the client does not read. */
  stop: AbortController;
  revision: number;
  /** True until the first event of a Table watch, which describes the columns. */
  columnsDue: boolean;
  /** True once the initial list is out: before, `revision` is no progress a bookmark could promise. */
  live: boolean;
}

/** GET with watch=true: 200 at once, then one JSON document per line until the time is up. */
export async function watchObjects(request: ResourceRequest): Promise<Response> {
  const options = listOptions(request.query, true);
  const { definition, server } = request;
  refuseWhileLoading(request, options);
  const selected = selection(definition, options.labelSelector, options.fieldSelector);
  const form = { as: request.format.as, includeObject: includeObjectOf(request.query) };
  const asked = options.resourceVersion ?? 0;
  if (options.sendInitialEvents && asked > 0) await waitForRevision(request, asked);
  // Who wants no initial state begins at the newest revision; otherwise the list says where.
  const isFromNow = asked === 0 && options.sendInitialEvents === false;
  const stop = new AbortController();
  const watching: WatchSession = {
    request,
    options,
    range: rangeOf(definition, request.namespace, selected),
    selected,
    form,
    out: new LineStream(stop),
    stop,
    revision: isFromNow ? await server.store.revision() : asked,
    columnsDue: form.as === 'Table',
    live: false,
  };
  run(watching).catch((caught: unknown) => server.log('a watch ended unexpectedly', caught));
  return respondWatch(request, watching.out.body);
}

async function run(watching: WatchSession): Promise<void> {
  const { request, options, out, stop } = watching;
  const seconds = options.timeoutSeconds || randomInt(1800, 3600);
  const end = () => stop.abort();
  const timer = setTimeout(end, Math.min(seconds, 86_400) * 1000);
  const bookmarks = setInterval(() => bookmark(watching, false), bookmarkEvery);
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
    await deliver(watching);
    bookmark(watching, false);
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

/** The initial state where it is asked for, then what happens, until `stop`. */
async function deliver(watching: WatchSession): Promise<void> {
  const { request, options, selected, range, stop, out } = watching;
  const fromNow = (options.resourceVersion ?? 0) === 0;
  if (options.sendInitialEvents ?? fromNow) await sendInitial(watching);
  watching.live = true;
  if (options.sendInitialEvents && options.allowBookmarks) bookmark(watching, true);
  const after = watching.revision;
  const { prefix, key } = range;
  for await (const batch of request.server.store.watch(key ?? prefix, { after, signal: stop.signal })) {
    // A watch from a revision still to come starts there, and a key's prefix may have longer siblings.
    const events = batch.events.filter(
      (event) => event.revision > after && (key === undefined || event.key === key),
    );
    print(
      watching,
      events.flatMap((event) => watchEventFor(request.definition, selected, event) ?? []),
    );
    watching.revision = Math.max(watching.revision, progress(batch));
    await out.drained();
    if (events.length > 0) await nextFlush();
    if (stop.signal.aborted) return;
  }
}

function progress(batch: WatchBatch): number {
  return Math.max(batch.revision, batch.events.at(-1)?.revision ?? 0);
}

async function sendInitial(watching: WatchSession): Promise<void> {
  const { request, options, range, selected, stop, out } = watching;
  const { definition, server } = request;
  const atLeast = options.resourceVersion;
  const { signal } = stop;
  const { items, revision } = await server.store.list(range.key ?? range.prefix, {
    signal,
    ...(atLeast !== undefined && { atLeast }),
  });
  for (let from = 0; from < items.length; from += sliceItems) {
    const slice = items
      .slice(from, from + sliceItems)
      .filter((item) => isSelected(definition, selected, item));
    print(
      watching,
      slice.map((item) => ({ type: 'ADDED', item, revision: item.revision })),
    );
    await out.drained();
    await yieldToEventLoop();
    if (signal.aborted) return;
  }
  watching.revision = revision;
}

/** Writes what happened as one piece; lines are shared with the other watches, so that a single one is not copied. */
function print(watching: WatchSession, events: readonly WatchEvent[]): void {
  const lines = events.map((seen) => lineOf(watching, seen));
  const [first, ...more] = lines;
  if (first) watching.out.write(more.length === 0 ? first : Buffer.concat(lines));
}

function lineOf(watching: WatchSession, seen: WatchEvent): Uint8Array {
  const { definition, server } = watching.request;
  const form = { ...watching.form, now: server.now() };
  // Before `live` nobody else wants the same.
  const isOwn = watching.columnsDue || !watching.live;
  const line = isOwn
    ? newLine(definition, seen, form, watching.columnsDue)
    : eventLine(definition, seen, form);
  watching.columnsDue = false;
  server.onWatchEvent?.(definition, line.byteLength);
  return line;
}

function bookmark(watching: WatchSession, initialEnd: boolean): void {
  const { request, form, out, options, revision } = watching;
  if (!watching.live || !(options.allowBookmarks || initialEnd)) return;
  out.write(bookmarkLine(request.definition, form.as, revision, initialEnd));
}
