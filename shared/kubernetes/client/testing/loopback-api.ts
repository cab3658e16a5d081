import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Kind } from '../client.ts';
import { FakeApi } from './fake-api/fake-api.ts';
import { answer, type Loopback, startLoopback, statusBody } from './loopback.ts';

/** The fake API with Secrets over real HTTP, with fault injection, for tests of the list-watch loop. */
export interface LoopbackApi {
  readonly url: string;
  /** Number of lists, without lists of a single object. */
  readonly lists: number;
  readonly watchQueries: readonly URLSearchParams[];
  readonly openWatches: number;
  put(name: string, uid?: string): void;
  remove(name: string): void;
  names(): string[];
  /** Compacts the history, so that earlier resourceVersions are Expired. */
  compact(): void;
  /** Responds to the next request for a second page with Expired. */
  expireNextPage(): void;
  /** Writes raw text to every open watch. */
  inject(text: string): void;
  /** Ends every watch with an ERROR event. */
  expireWatches(): void;
  closeWatches(how: 'end' | 'destroy'): void;
  /** Responds to the next requests with `respond`. */
  failNext(times: number, respond: (response: ServerResponse) => void): void;
  stop(): Promise<void>;
  start(): Promise<void>;
}

export async function startLoopbackApi(): Promise<LoopbackApi> {
  // Two items per page, so that a few objects need several pages.
  const fake = new FakeApi([], { pageLimit: 2, revision: 100 });
  const watchQueries: URLSearchParams[] = [];
  let uids = 0;
  let lists = 0;
  let pageExpires = false;
  let failing: ((response: ServerResponse) => void)[] = [];

  const listener = (request: IncomingMessage, response: ServerResponse) => {
    const fail = failing.shift();
    if (fail !== undefined) return fail(response);
    const query = new URL(request.url ?? '', 'http://x').searchParams;
    if (query.get('watch') === 'true') watchQueries.push(query);
    else if (!query.has('continue')) lists += Number(query.get('limit') !== '1');
    else if (pageExpires) {
      pageExpires = false;
      return answer(response, 410, statusBody(410, 'Expired', 'the continue token is too old'));
    }
    void forward(fake, request, response);
  };

  let server: Loopback = await startLoopback(listener);
  const { url, port } = server;

  return {
    url,
    get lists() {
      return lists;
    },
    watchQueries,
    get openWatches() {
      return fake.openWatches;
    },
    put(name, uid = fake.read(secrets, { name, namespace })?.metadata.uid ?? `u${++uids}`) {
      fake.put({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace, uid } });
    },
    remove: (name) => fake.remove(secrets, { name, namespace }),
    names: () =>
      fake
        .all(secrets)
        .map(({ metadata }) => metadata.name)
        .sort(),
    compact: () => fake.compact(),
    expireNextPage() {
      pageExpires = true;
    },
    inject: (text) => fake.inject(text),
    expireWatches: () => fake.expireWatches(),
    closeWatches: (how) => fake.closeWatches(how),
    failNext(times, respond) {
      failing = Array.from({ length: times }, () => respond);
    },
    stop: () => server.close(),
    async start() {
      server = await startLoopback(listener, port);
    },
  };
}

const namespace = 'n';
const secrets: Kind = { apiVersion: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true };

/** Forwards a GET to the fake API. A body that fails breaks the connection. */
async function forward(fake: FakeApi, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const control = new AbortController();
  response.on('close', () => control.abort());
  try {
    const { accept = '*/*' } = request.headers;
    const { signal } = control;
    const { status, body } = await fake.fetch(`${fake.url}${request.url}`, { headers: { accept }, signal });
    response.writeHead(status, { 'content-type': 'application/json' }).flushHeaders();
    for await (const piece of body ?? []) response.write(piece);
    response.end();
  } catch {
    response.destroy();
  }
}
