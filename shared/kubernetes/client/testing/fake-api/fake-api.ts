import { getResponse, type HttpHandler } from 'msw';
import type { KubeObject } from '#shared/base/meta';
import type { Key, Kind, KubeClient } from '../../client.ts';
import { createKubeClient } from '../../create-client.ts';
import { deletedStatus } from './form.ts';
import { type Backend, handlersOf } from './handlers.ts';
import { type Change, type Collection, ObjectStore } from './object-store.ts';
import { Reads } from './reads.ts';
import { type ApiRequest, hasGeneration, pluralOf } from './resources.ts';
import { expiredLine, type OpenWatch, watchBody } from './watches.ts';
import { Writes } from './writes.ts';

/** An answered request. */
export interface AnsweredRequest extends ApiRequest {
  /** HTTP status; 0 if `before` broke the connection. */
  code: number;
}

export interface FakeApiOptions {
  /** Maximum number of items per page, regardless of the limit of the client. */
  pageLimit?: number;
  /** The initial resourceVersion. */
  revision?: number;
}

/**
 * The fake Kubernetes API of unit tests: msw handlers that store objects like the API server, with resourceVersions, uids, preconditions,
 * status subresources, generations, finalizers, selectors, paging and watches. Serves every kind, without authentication, schemas and
 * Namespaces. test/contract/fake-api.test.ts compares it with the real server. For broken connections use loopback-api.ts.
 */
export class FakeApi implements Backend {
  readonly url = 'http://fake-api.test';
  /** For programs with their own client: pass these to msw's `setupServer`. */
  readonly handlers: HttpHandler[];
  /** A client of this API. */
  readonly client: KubeClient;
  /** All requests, in order of their responses. */
  readonly requests: AnsweredRequest[] = [];
  /** The successful writes and deletes, including those without effect. */
  readonly writes: AnsweredRequest[] = [];
  /** Runs before each request. Throw an ArcError to refuse the request, another Error to break the connection, or write as another client. */
  before: (request: ApiRequest) => void = () => undefined;
  /** The output of pods, by name. */
  readonly logs = new Map<string, string>();
  /** The time of creations and deletions: RFC 3339, whole seconds. */
  time = '2026-01-01T00:00:00Z';
  readonly #store: ObjectStore;
  readonly #reads: Reads;
  readonly #writes: Writes;
  readonly #watches = new Set<OpenWatch>();

  constructor(
    objects: readonly KubeObject[] = [],
    { pageLimit = Number.POSITIVE_INFINITY, revision = 1 }: FakeApiOptions = {},
  ) {
    this.handlers = handlersOf(this.url, this);
    this.#store = new ObjectStore(revision);
    this.#reads = new Reads(this.#store, pageLimit);
    this.#writes = new Writes(this.#store, () => this.time);
    this.client = createKubeClient({ server: this.url, userAgent: 'test', fetch: this.fetch });
    for (const object of objects) this.put(object);
  }

  /** Number of open watches. */
  get openWatches(): number {
    return this.#watches.size;
  }

  /** Stores an object as is, including its status, without a request. */
  put<T extends KubeObject>(object: T): T {
    const { metadata } = object;
    const collection = { apiVersion: object.apiVersion, resource: pluralOf(object.kind) };
    const defaults = {
      uid: this.#store.find(collection, metadata)?.metadata.uid ?? this.#store.newUid(metadata.name),
      creationTimestamp: this.time,
      ...(hasGeneration(collection) && { generation: 1 }),
    };
    return this.#store.put(collection, { ...object, metadata: { ...defaults, ...metadata } }) as T;
  }

  /** Calls `listener` synchronously with every change. */
  listen(listener: (change: Change) => void): void {
    this.#store.listeners.add(listener);
  }

  /** Removes an object regardless of its finalizers. */
  remove(kind: Kind, key: Key): void {
    this.#store.remove(collectionOf(kind), key);
  }

  /** Returns an object as stored. */
  read<T extends KubeObject>(kind: Kind<T>, key: Key): T | undefined {
    return this.#store.find(collectionOf(kind), key) as T | undefined;
  }

  /** Returns all objects of a kind, or of all kinds, oldest first. */
  all<T extends KubeObject>(kind?: Kind<T>): T[] {
    return this.#store.all(kind && collectionOf(kind)) as T[];
  }

  /** Compacts the history: earlier watches and pages are Expired. */
  compact(): void {
    this.#store.compact();
  }

  /** Sends raw text on every open watch. */
  inject(text: string): void {
    for (const watch of this.#watches) watch.send(text);
  }

  /** Ends every open watch. */
  closeWatches(how: 'end' | 'destroy' = 'end'): void {
    for (const watch of this.#watches) watch.end(how);
  }

  /** Ends every open watch with the ERROR event Expired. */
  expireWatches(): void {
    this.inject(expiredLine());
    this.closeWatches();
  }

  /** A `fetch` that reaches only this API. */
  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    request.signal.throwIfAborted();
    const response = await getResponse(this.handlers, request);
    if (response === undefined || response.type === 'error')
      throw new TypeError('fetch failed', {
        cause: new Error(`no answer to ${request.method} ${request.url}`),
      });
    if (!(response.body && request.url.includes('watch=true'))) return response;
    // Applies the signal separately: a Request stops following its signal when it is garbage collected.
    const through = { ...(init?.signal && { signal: init.signal }) };
    return new Response(response.body.pipeThrough(new TransformStream(), through), response);
  };

  /** Handles a request without HTTP. Throws an ArcError to refuse it. */
  answer(request: ApiRequest, query = new URLSearchParams()): object | string {
    this.before(request);
    if (request.subresource === 'log') return this.#logOf(request, query);
    if (request.verb === 'get') return this.#reads.get(request);
    if (request.verb === 'list') return this.#reads.list(request, query);
    if (request.verb === 'watch') return watchBody(this.#store, request, query, this.#watches);
    if (request.verb === 'create') return this.#writes.create(request, bodyOf(request));
    if (request.verb === 'update') return this.#writes.update(request, bodyOf(request));
    if (request.verb === 'patch') return this.#writes.patch(request, request.body ?? {});
    const { object, gone } = this.#writes.delete(request);
    return gone ? deletedStatus(request, object) : object;
  }

  #logOf(request: ApiRequest, query: URLSearchParams): string {
    this.#reads.get(request);
    const lines = (this.logs.get(request.name) ?? '').split(/(?<=\n)/);
    const end = lines.slice(-Number(query.get('tailLines') ?? lines.length)).join('');
    return Buffer.from(end)
      .subarray(0, Number(query.get('limitBytes') ?? end.length))
      .toString();
  }

  /** Records the response to a request. */
  answered(request: ApiRequest, code: number): void {
    const answered = { ...request, code };
    this.requests.push(answered);
    if (writing.includes(request.verb) && code >= 200 && code < 300) this.writes.push(answered);
  }
}

function bodyOf({ body }: ApiRequest): KubeObject {
  return body as KubeObject;
}

const writing: readonly string[] = ['create', 'update', 'patch', 'delete'];

function collectionOf({ apiVersion, plural }: Kind): Collection {
  return { apiVersion, resource: plural };
}
