import { type Deadline, startDeadline } from '#shared/base/async';
import { ArcError, bytesText } from '#shared/base/errors';
import { isRecord, type KubeObject } from '#shared/base/meta';
import type {
  DeleteOptions,
  Kind,
  KubeClient,
  ListOptions,
  ListPage,
  MetadataKey,
  ReadKey,
  Selection,
  WatchEvent,
  WatchOptions,
} from './client.ts';
import { createPageReader } from './page-reader.ts';
import type { FetchResponse } from './transport/node-fetch.ts';
import { isGone } from './transport/status.ts';
import {
  type Allowance,
  createTransport,
  describe,
  type Outgoing,
  type Transport,
  type TransportOptions,
} from './transport/transport.ts';
import { collectionPath, namespaceOf, objectPath, query } from './url.ts';
import { asKind, watchEvents } from './watch-stream.ts';

const podKind: Kind = { apiVersion: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };

/**
 * Creates a client for one API server. Custom certificate authorities are set for the whole process
 * (NODE_EXTRA_CA_CERTS or tls.setDefaultCACertificates). Throws BadRequest for an invalid address.
 */
export function createKubeClient(options: TransportOptions): KubeClient {
  const transport = createTransport(options);
  const sendForObject = async <T extends KubeObject>(
    kind: Kind<T>,
    request: Outgoing,
    signal?: AbortSignal,
  ): Promise<T> => objectOf(kind, await transport.send(request, signal), request);

  return {
    traced: (trace) => createKubeClient({ ...options, trace }),

    get<T extends KubeObject>(kind: Kind<T>, key: ReadKey, signal?: AbortSignal): Promise<T | undefined> {
      const request: Outgoing = { method: 'GET', path: objectPath(kind, key, key.subresource) };
      return orAbsent<T | undefined>(() => sendForObject(kind, request, signal), undefined);
    },

    getMetadata(kind: Kind, key: MetadataKey, signal?: AbortSignal): Promise<KubeObject | undefined> {
      const path = `${objectPath(kind, key)}${query({ resourceVersion: key.notOlderThan })}`;
      const request: Outgoing = { method: 'GET', path, ...accept({ metadataOnly: true }) };
      return orAbsent<KubeObject | undefined>(() => sendForObject(kind, request, signal), undefined);
    },

    list: (kind, selection = {}, signal) =>
      selection.limit === undefined
        ? listAll(transport, kind, selection, signal)
        : listPage(transport, kind, selection, signal),

    create(kind, object, signal) {
      const path = collectionPath(kind, namespaceOf(kind, object.metadata));
      return sendForObject(kind, { method: 'POST', path, body: object }, signal);
    },

    replace: (kind, object, signal) =>
      sendForObject(kind, { method: 'PUT', path: objectPath(kind, object.metadata), body: object }, signal),

    mergePatch(kind, key, patch, where, signal) {
      const path = objectPath(kind, key, where?.subresource);
      const contentType = 'application/merge-patch+json';
      return sendForObject(kind, { method: 'PATCH', path, body: patch, contentType }, signal);
    },

    async log(pod, options, signal) {
      const path = `${objectPath(podKind, pod, 'log')}${query({ ...options })}`;
      const request: Outgoing = { method: 'GET', path, accept: 'application/json, */*' };
      const deadline = startDeadline(transport.deadlineMs, describe(request), signal);
      try {
        return await readText(await transport.open(request, deadline), options.limitBytes);
      } catch (caught) {
        throw transport.failure(caught, request, deadline);
      } finally {
        deadline.end();
      }
    },

    async delete(kind, key, how = {}, signal) {
      const request: Outgoing = { method: 'DELETE', path: objectPath(kind, key), body: deleteBody(how) };
      return orAbsent<boolean>(() => transport.send(request, signal).then(() => true), false);
    },

    watch: (kind, selection, signal) => watch(transport, kind, selection, signal),
  };
}

async function listAll<T extends KubeObject>(
  transport: Transport,
  kind: Kind<T>,
  { maxBytes, ...selection }: ListOptions,
  signal?: AbortSignal,
): Promise<ListPage<T>> {
  const items: T[] = [];
  const readPage = createPageReader(maxBytes);
  let resourceVersion = '';
  let next: string | undefined;
  do {
    const page = await readPage((limit, allowance) =>
      listPage(transport, kind, { ...selection, limit, continue: next }, signal, allowance),
    ).catch((caught: unknown) => {
      if (maxBytes === undefined || !ArcError.is(caught, 'RequestEntityTooLarge')) throw caught;
      const { namespace } = selection;
      const where = namespace === undefined ? '' : ` of namespace ${namespace}`;
      const most = bytesText(maxBytes);
      throw new ArcError(
        caught.code,
        `the selected ${kind.plural}${where} are more than ${most}: delete some, or their annotations`,
      );
    });
    resourceVersion ||= page.resourceVersion;
    for (const item of page.items) items.push(item);
    next = page.continue;
  } while (next !== undefined);
  return { items, resourceVersion };
}

async function listPage<T extends KubeObject>(
  transport: Transport,
  kind: Kind<T>,
  options: ListOptions,
  signal?: AbortSignal,
  allowance: Allowance = { bytes: options.maxBytes ?? Number.POSITIVE_INFINITY },
): Promise<ListPage<T>> {
  const path = `${collectionPath(kind, options.namespace)}${query({
    ...selectors(options),
    limit: options.limit,
    continue: options.continue,
  })}`;
  const request: Outgoing = { method: 'GET', path, ...accept(options, 'List') };
  const body = await transport.send(request, signal, allowance);
  const metadata = isRecord(body) ? body.metadata : undefined;
  if (!isRecord(body) || !isRecord(metadata) || typeof metadata.resourceVersion !== 'string') {
    throw new ArcError('InternalError', `GET ${path.split('?')[0]}: the server did not return a list`);
  }
  const items = Array.isArray(body.items)
    ? body.items.filter(isRecord).map((item) => asKind(kind, item))
    : [];
  const next = metadata.continue;
  return {
    items,
    resourceVersion: metadata.resourceVersion,
    ...(typeof next === 'string' && next !== '' && { continue: next }),
  };
}

async function* watch<T extends KubeObject>(
  transport: Transport,
  kind: Kind<T>,
  options: WatchOptions,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent<T>> {
  const parameters = {
    ...selectors(options),
    watch: true,
    allowWatchBookmarks: true,
    resourceVersion: options.resourceVersion,
    timeoutSeconds: options.timeoutSeconds,
  };
  const path = `${collectionPath(kind, options.namespace)}${query(parameters)}`;
  const request: Outgoing = { method: 'GET', path, ...accept(options) };
  const deadline = startDeadline(transport.deadlineMs, `${describe(request)} (watch)`, signal);
  try {
    const answer = await transport.open(request, deadline);
    yield* watchEvents(
      kind,
      withInactivityTimeout(answer, deadline, options.inactivityMs ?? Number.POSITIVE_INFINITY),
    );
  } catch (caught) {
    if (!signal.aborted) throw transport.failure(caught, request, deadline);
  } finally {
    deadline.end();
  }
}

/** Reads the body of a watch. Every chunk restarts the deadline, which applied to the response head before. */
async function* withInactivityTimeout(
  answer: FetchResponse,
  deadline: Deadline,
  inactivityMs: number,
): AsyncGenerator<Uint8Array> {
  deadline.restart(inactivityMs);
  for await (const chunk of answer.body ?? []) {
    deadline.restart();
    yield chunk;
  }
}

/** Reads at most `limit` bytes of a body. */
async function readText(answer: FetchResponse, limit: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of answer.body ?? []) {
    chunks.push(chunk.subarray(0, limit - length));
    length += chunk.length;
    // Leaving the loop closes the response.
    if (length >= limit) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Resolves with the result of `attempt`, or with `absent` if the object does not exist. */
async function orAbsent<T>(attempt: () => Promise<T>, absent: Awaited<T>): Promise<T> {
  try {
    return await attempt();
  } catch (caught) {
    if (isGone(caught)) return absent;
    throw caught;
  }
}

function objectOf<T extends KubeObject>(kind: Kind<T>, body: unknown, request: Outgoing): T {
  if (isRecord(body) && isRecord(body.metadata)) return asKind(kind, body);
  throw new ArcError('InternalError', `${describe(request)}: the server did not return an object`);
}

/** Returns the Accept header for metadata of objects, lists (`suffix`) or watch events; none for whole objects. */
function accept({ metadataOnly = false }: Selection, suffix = ''): Pick<Outgoing, 'accept'> {
  return metadataOnly
    ? { accept: `application/json;as=PartialObjectMetadata${suffix};g=meta.k8s.io;v=v1` }
    : {};
}

function selectors({ labelSelector, fieldSelector }: Selection) {
  return { labelSelector, fieldSelector };
}

function deleteBody(options: DeleteOptions): object {
  const { uid, resourceVersion, propagationPolicy = 'Background' } = options;
  const preconditions = {
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
  return {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    propagationPolicy,
    ...(Object.keys(preconditions).length > 0 && { preconditions }),
  };
}
