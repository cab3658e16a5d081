import { ArcError } from '#shared/base/errors';
import type { KubeObject } from '#shared/base/meta';
import type { ObjectStore } from './object-store.ts';
import type { ApiRequest } from './resources.ts';
import { selection } from './selectors.ts';
import { notFound } from './status-error.ts';

/** The remaining items after a page. */
interface Rest {
  revision: number;
  items: KubeObject[];
}

/** Handles GET of objects and collections. Pages of a list are from the same revision, as in etcd. */
export class Reads {
  readonly #store: ObjectStore;
  readonly #pageLimit: number;
  readonly #rests = new Map<string, Rest>();

  /** @param pageLimit maximum number of items per page, regardless of the limit of the client */
  constructor(store: ObjectStore, pageLimit: number) {
    this.#store = store;
    this.#pageLimit = pageLimit;
  }

  get(request: ApiRequest): KubeObject {
    const found = this.#store.find(request, keyOf(request));
    if (found === undefined) throw notFound(request);
    return found;
  }

  list(request: ApiRequest, query: URLSearchParams): object {
    const token = query.get('continue') ?? '';
    const { revision, items } = token === '' ? this.#first(request, query) : this.#next(token);
    const requested = Number(query.get('limit') ?? 0);
    const limit = Math.min(requested === 0 ? items.length : requested, this.#pageLimit);
    const page = items.slice(0, limit);
    const rest = items.slice(limit);
    const next = `${revision}-${rest[0]?.metadata.namespace ?? ''}-${rest[0]?.metadata.name}`;
    if (rest.length > 0) this.#rests.set(next, { revision, items: rest });
    const selected = query.has('labelSelector') || query.has('fieldSelector');
    return {
      apiVersion: request.apiVersion,
      kind: `${items[0]?.kind ?? ''}List`,
      metadata: {
        resourceVersion: String(revision),
        ...(rest.length > 0 && { continue: next }),
        ...(rest.length > 0 && !selected && { remainingItemCount: rest.length }),
      },
      items: page,
    };
  }

  #first(request: ApiRequest, query: URLSearchParams): Rest {
    const items = this.#store.all(request, selection(request, query));
    const order = ({ metadata }: KubeObject) => `${metadata.namespace ?? ''}/${metadata.name}`;
    return { revision: this.#store.revision, items: items.sort((a, b) => (order(a) < order(b) ? -1 : 1)) };
  }

  #next(token: string): Rest {
    const rest = this.#rests.get(token);
    if (rest === undefined) throw new ArcError('BadRequest', 'continue key is not valid');
    if (rest.revision < this.#store.compacted)
      throw new ArcError(
        'Expired',
        'The provided continue parameter is too old to display a consistent list result.',
      );
    return rest;
  }
}

/** Returns the key of the object in a request. */
export function keyOf({ namespace, name }: ApiRequest): { name: string; namespace?: string } {
  return { name, ...(namespace !== undefined && { namespace }) };
}
