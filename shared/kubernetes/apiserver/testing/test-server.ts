import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { ArcError, type Cause } from '#shared/base/errors';
import { openEmbeddedStore, type Store } from '#shared/kubernetes/storage';
import type { Authorizer } from '../authorization/authorizer.ts';
import type { KindDefinition, KubeObject, ObjectMeta } from '../kinds/definition.ts';
import { type ApiServer, type ApiServerOptions, createApiServer } from '../server/server.ts';

/** An API server with a real store, for tests. */
export interface TestServer {
  api: ApiServer;
  store: Store;
  /** Sends a request as the user in `Authorization: Bearer <user>`, by default admin. Serializes a body that is not a string. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Logged errors: 5xx and broken streams. */
  logged: unknown[];
  close(): Promise<void>;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  body: AnswerBody;
}

/** The body of a response: an object, a list, a Table or a Status. Missing fields are undefined. */
export interface AnswerBody extends KubeObject {
  metadata: ObjectMeta & { resourceVersion: string; continue?: string; remainingItemCount?: number };
  spec: Record<string, unknown>;
  items: [KubeObject, ...KubeObject[]];
  rows: { cells: unknown[] }[];
  message: string;
  reason: string;
  details: { kind: string; name: string; causes: [Cause, ...Cause[]] };
}

type RequestInit = NonNullable<ConstructorParameters<typeof Request>[1]>;

export const group = 'test.example.com';
export const widgets = `/apis/${group}/v1/namespaces/ns/widgets`;
export const gadgets = `/apis/${group}/v1/gadgets`;

const widgetKind: KindDefinition = {
  group,
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  singular: 'widget',
  scope: 'Namespaced',
  description: 'For tests.',
  schema: z.object({
    spec: z.object({
      size: z.int().min(0).optional(),
      color: z.string().default('red'),
      parts: z
        .array(z.object({ name: z.string(), url: z.string().optional() }))
        .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] })
        .optional(),
      tags: z.array(z.string()).meta({ 'x-kubernetes-list-type': 'set' }).optional(),
      free: z.record(z.string(), z.unknown()).optional(),
    }),
    status: z.object({ phase: z.string().optional() }).optional(),
  }),
  status: true,
  columns: [
    { name: 'Color', type: 'string', description: 'Its color.', value: (object) => specOf(object).color },
  ],
  indexedLabels: ['set'],
  selectableFields: { 'spec.color': (object) => specOf(object).color ?? '' },
  hooks: {
    validate: (object) =>
      specOf(object).color === 'impossible'
        ? [
            {
              reason: 'FieldValueInvalid',
              message: 'Invalid value: "impossible": no such color',
              field: 'spec.color',
            },
          ]
        : [],
    warn: (object) => (specOf(object).color === 'ugly' ? ['spec.color "ugly" is not recommended'] : []),
  },
};

const gadgetKind: KindDefinition = {
  group,
  version: 'v1',
  kind: 'Gadget',
  plural: 'gadgets',
  singular: 'gadget',
  scope: 'Cluster' as const,
  description: 'For tests.',
  schema: z.object({
    data: z.record(z.string(), z.string()).optional(),
    status: z.looseObject({}).optional(),
  }),
  status: false,
  texts: [
    { name: 'note', description: 'read the note of a Gadget', options: [], read: noteOf, follow: notes },
  ],
  columns: [],
};

function noteOf({ metadata }: KubeObject, query: URLSearchParams): string {
  if (query.has('wrong')) throw new ArcError('BadRequest', 'wrong is not supported');
  return `note of ${metadata.name}\n`;
}

/** Streams one chunk and then waits for the reader to leave; undefined for a Gadget named `done`. */
function notes(object: KubeObject, query: URLSearchParams) {
  const note = noteOf(object, query);
  if (object.metadata.name === 'done') return undefined;
  return async function* (signal: AbortSignal) {
    yield note;
    if (!signal.aborted) await once(signal, 'abort');
  };
}

const namespaceKind: KindDefinition = {
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  singular: 'namespace',
  scope: 'Cluster',
  description: 'For tests.',
  schema: z.object({ status: z.object({ phase: z.string().optional() }).optional() }),
  status: true,
  columns: [],
  hooks: { beginDeletion: (object) => ({ ...object, status: { phase: 'Terminating' } }) },
};

const reviewKind: KindDefinition = {
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SelfSubjectAccessReview',
  plural: 'selfsubjectaccessreviews',
  singular: 'selfsubjectaccessreview',
  scope: 'Cluster',
  description: 'For tests.',
  schema: z.object({ spec: z.looseObject({}), status: z.looseObject({}).optional() }),
  status: false,
  columns: [],
  virtual: (object, user) => ({ ...object, status: { allowed: user.name === 'admin' } }),
};

function specOf(object: KubeObject): { color?: string } {
  return (object.spec ?? {}) as { color?: string };
}

export const kinds = [widgetKind, gadgetKind, namespaceKind, reviewKind];

const allowAdmin: Authorizer = async (user) =>
  user.name === 'admin' ? { allowed: true } : { allowed: false, reason: 'only admin may' };

export async function startTestServer(options: Partial<ApiServerOptions> = {}): Promise<TestServer> {
  const folder = await mkdtemp(join(tmpdir(), 'apiserver-'));
  const store = await openEmbeddedStore({ folder, progressInterval: 20 });
  const logged: unknown[] = [];
  const api = createApiServer({
    kinds,
    store,
    authenticate: async (request) => {
      const name = /^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '')?.[1];
      if (name === 'bad') throw new ArcError('Unauthorized', 'Unauthorized');
      return name === undefined ? undefined : { name, groups: [] };
    },
    authorize: allowAdmin,
    limits: { readOnly: 5_000, mutating: 5_000 },
    log: (message, caught) => logged.push([message, caught]),
    ...options,
  });
  const fetch = async (path: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers);
    if (!headers.has('authorization')) headers.set('authorization', 'Bearer admin');
    return await api.app.fetch(new Request(`http://test.invalid${path}`, { ...init, headers }));
  };
  const server: TestServer = {
    api,
    store,
    fetch,
    logged,
    async call(method, path, body, headers = {}) {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const typed = text === undefined ? headers : { 'content-type': 'application/json', ...headers };
      const response = await fetch(path, {
        method,
        headers: typed,
        ...(text !== undefined && { body: text }),
      });
      return answerOf(response);
    },
    async close() {
      await api.close();
      await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
  const made = await server.call('POST', '/api/v1/namespaces', namespace('ns'));
  if (made.status !== 201) throw new Error(`no namespace: ${made.text}`);
  return server;
}

async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json');
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson ? JSON.parse(text) : undefined,
  };
}

export function namespace(name: string): object {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

export function widget(name: string, spec: object = {}, metadata: object = {}): object {
  return { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name, ...metadata }, spec };
}

export const mergeType = { 'content-type': 'application/merge-patch+json' };
export const applyType = { 'content-type': 'application/apply-patch+yaml' };
export const jsonPatchType = { 'content-type': 'application/json-patch+json' };

/** Yields the events of a watch. */
export function linesOf(response: Response): AsyncGenerator<{ type: string; object: KubeObject }> {
  return parseLines(response.body as AsyncIterable<Uint8Array>);
}

async function* parseLines(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ type: string; object: KubeObject }> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const text of lines) yield JSON.parse(text);
  }
}
