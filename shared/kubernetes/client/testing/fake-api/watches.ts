import { ArcError } from '#shared/base/errors';
import type { KubeObject } from '#shared/base/meta';
import { inForm } from './form.ts';
import { type Change, isSame, type ObjectStore } from './object-store.ts';
import type { ApiRequest } from './resources.ts';
import { selection } from './selectors.ts';
import { statusOf } from './status-error.ts';

/** An open watch. */
export interface OpenWatch {
  /** Sends raw text. */
  send(text: string): void;
  /** Ends the response, or breaks the connection. */
  end(how?: 'end' | 'destroy'): void;
}

/**
 * Returns the body of a watch: the events after `resourceVersion`, or without a resourceVersion the existing objects followed by events. An
 * object that enters the selection is ADDED, an object that leaves it is DELETED. Throws Expired for a compacted revision.
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
      const dispatch = (change: Change) => {
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
          else controller.error(new Error('the connection was broken'));
        },
      };
      close = () => {
        store.listeners.delete(dispatch);
        open.delete(watch);
      };
      if (from === 0) for (const object of store.all(request).filter(isSelected)) event('ADDED', object);
      else for (const change of store.changesAfter(request, from)) dispatch(change);
      store.listeners.add(dispatch);
      open.add(watch);
    },
    cancel: () => close(),
  });
}

/** Returns the last selected state of an object, with the revision of the change. */
function lastSelected({ before, object, revision }: Change): KubeObject {
  const last = before ?? object;
  return { ...last, metadata: { ...last.metadata, resourceVersion: String(revision) } };
}

/** Returns the ERROR event of an expired watch as a line. */
export function expiredLine(): string {
  const object = statusOf(new ArcError('Expired', 'too old resource version'));
  return `${JSON.stringify({ type: 'ERROR', object })}\n`;
}
