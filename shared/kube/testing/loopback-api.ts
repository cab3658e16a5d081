import type { IncomingMessage, ServerResponse } from 'node:http';
import type { KubeObject } from '#shared/meta';
import { answer, type Loopback, startLoopback, statusBody } from './loopback.ts';

interface LogEntry {
  version: number;
  line: string;
}

/** For tests of the list-watch loop: Secrets with history over real HTTP, and the faults that servers and networks have. */
export interface LoopbackApi {
  readonly url: string;
  readonly lists: number;
  readonly watchQueries: readonly URLSearchParams[];
  readonly openWatches: number;
  put(name: string, uid?: string): void;
  remove(name: string): void;
  names(): string[];
  /** Forgets all history, so that a watch from before is Expired. */
  compact(): void;
  /** Answers the next request for a second page with Expired. */
  expireNextPage(): void;
  /** Writes raw text to every open watch. */
  inject(text: string): void;
  /** Ends every watch with an ERROR event. */
  expireWatches(): void;
  closeWatches(how: 'end' | 'destroy'): void;
  /** Answers the next requests like this instead. */
  failNext(times: number, respond: (response: ServerResponse) => void): void;
  stop(): Promise<void>;
  start(): Promise<void>;
}

export async function startLoopbackApi(): Promise<LoopbackApi> {
  const objects = new Map<string, KubeObject>();
  const watches = new Set<ServerResponse>();
  const watchQueries: URLSearchParams[] = [];
  let log: LogEntry[] = [];
  let oldest = 0;
  let version = 100;
  let uids = 0;
  let lists = 0;
  let pageExpires = false;
  let failing: ((response: ServerResponse) => void)[] = [];

  const record = (type: string, object: KubeObject) => {
    const line = `${JSON.stringify({ type, object })}\n`;
    log.push({ version, line });
    for (const watch of watches) watch.write(line);
  };

  const list = (query: URLSearchParams, response: ServerResponse) => {
    const start = query.get('continue') ?? '';
    if (start === '') lists += 1;
    if (start !== '' && pageExpires) {
      pageExpires = false;
      return answer(response, 410, statusBody(410, 'Expired', 'the continue token is too old'));
    }
    const limit = 2;
    const rest = [...objects.values()].filter(({ metadata }) => metadata.name > start);
    rest.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
    const items = rest.slice(0, limit);
    const next = rest.length > limit ? { continue: items.at(-1)?.metadata.name } : {};
    answer(response, 200, { metadata: { resourceVersion: String(version), ...next }, items });
  };

  const watch = (query: URLSearchParams, response: ServerResponse) => {
    watchQueries.push(query);
    const from = Number(query.get('resourceVersion'));
    if (from < oldest) return answer(response, 410, statusBody(410, 'Expired', 'too old resource version'));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    for (const entry of log) if (entry.version > from) response.write(entry.line);
    watches.add(response);
    response.on('close', () => watches.delete(response));
  };

  const listener = (request: IncomingMessage, response: ServerResponse) => {
    const fail = failing.shift();
    if (fail !== undefined) return fail(response);
    const query = new URL(request.url ?? '', 'http://x').searchParams;
    if (query.get('watch') === 'true') watch(query, response);
    else list(query, response);
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
      return watches.size;
    },
    put(name, uid = objects.get(name)?.metadata.uid ?? `u${++uids}`) {
      const type = objects.has(name) ? 'MODIFIED' : 'ADDED';
      version += 1;
      const metadata = { name, namespace: 'n', uid, resourceVersion: String(version) };
      const object = { apiVersion: 'v1', kind: 'Secret', metadata };
      objects.set(name, object);
      record(type, object);
    },
    remove(name) {
      const object = objects.get(name);
      if (object === undefined) return;
      objects.delete(name);
      version += 1;
      record('DELETED', { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } });
    },
    names: () => [...objects.keys()].sort(),
    compact() {
      version += 1;
      oldest = version;
      log = [];
    },
    expireNextPage() {
      pageExpires = true;
    },
    inject(text) {
      for (const response of watches) response.write(text);
    },
    expireWatches() {
      const object = statusBody(410, 'Expired', 'too old resource version');
      for (const response of watches) response.end(`${JSON.stringify({ type: 'ERROR', object })}\n`);
      watches.clear();
    },
    closeWatches(how) {
      for (const response of watches) response[how]();
      watches.clear();
    },
    failNext(times, respond) {
      failing = Array.from({ length: times }, () => respond);
    },
    stop: () => server.close(),
    async start() {
      server = await startLoopback(listener, port);
    },
  };
}
