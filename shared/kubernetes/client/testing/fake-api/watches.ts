import { ArcError } from '#shared/base/errors';
import type { KubeObject } from '#shared/base/meta';
import { inForm } from './form.ts';
import { type Change, isSame, type ObjectStore } from './object-store.ts';
import type { ApiRequest } from './resources.ts';
import { selection } from './selectors.ts';
import { statusOf } from './status-error.ts';

/** A watch that is open. */
export interface OpenWatch {
  /** Sends raw text, as a server or a network might. */
  send(text: string): void;
  /** Ends the response as a server does, or breaks it off as a network does. */
  end(how?: 'end' | 'destroy'): void;
}

/**
 * The body of a watch: what happened after `resourceVersion`, and what happens from then on. Without a resourceVersion it
 * begins with what is there. An object that comes into the selection is ADDED, one that leaves it DELETED.
 * Throws Expired for a revision before the last compaction.
 */
export function watchBody(
  store: ObjectStore,
  request: ApiRequest,
  query: URLSearchParams,
  open: Set<OpenWatch>,
): ReadableStream<Uint8Array> {
  const isSelected = selection(request, query);
  const from = Number(query.get('resourceVersion') ?? 0);
  if (from !== 0 && from < store.compacted)
    throw new ArcError('Expired', `too old resource version: ${from} (${store.compacted})`);
  let close = () => {};
  return new ReadableStream({
    start(controller) {
      const send = (text: string) => controller.enqueue(Buffer.from(text));
      const event = (type: string, object: KubeObject) =>
        send(`${JSON.stringify({ type, object: inForm(request, object) })}\n`);
      const tell = (change: Change) => {
        if (!isSame(change.collection, request)) return;
        const before = change.before !== undefined && isSelected(change.before);
        const after = change.after !== undefined && isSelected(change.after);
        if (after) event(before ? 'MODIFIED' : 'ADDED', change.object);
        else if (before) event('DELETED', lastSelected(change));
      };
      const watch: OpenWatch = {
        send,
        end(how = 'end') {
          close();
          if (how === 'end') controller.close();
          else controller.error(new Error('the connection was broken off'));
        },
      };
      close = () => {
        store.listeners.delete(tell);
        open.delete(watch);
      };
      if (from === 0) for (const object of store.all(request).filter(isSelected)) event('ADDED', object);
      else for (const change of store.changesAfter(request, from)) tell(change);
      store.listeners.add(tell);
      open.add(watch);
    },
    cancel: () => close(),
  });
}

/** What is gone from a selection, as it was last in it, with the revision at which it went. */
function lastSelected({ before, object, revision }: Change): KubeObject {
  const last = before ?? object;
  return { ...last, metadata: { ...last.metadata, resourceVersion: String(revision) } };
}

/** The line by which a server says that it has compacted what a watch would have to read. */
export function expiredLine(): string {
  const object = statusOf(new ArcError('Expired', 'too old resource version'));
  return `${JSON.stringify({ type: 'ERROR', object })}\n`;
}
