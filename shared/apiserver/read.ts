import { ArcError } from '#shared/errors';
import type { StoredItem, StoredList } from '#shared/storage';
import { breathe, type Call, deadline } from './call.ts';
import { decodeContinue, encodeContinue, notIssued } from './continue-token.ts';
import type { KubeObject } from './definition.ts';
import { type ListRequest, listRequest, revisionOf } from './list-options.ts';
import { apiVersionOf, decodeObject, keyPrefix, objectKey, withRevision } from './registry.ts';
import { toPartialList, toTable } from './representation/index.ts';
import { includeObjectOf, respondBody, respondItem, respondRaw, wantsPretty } from './respond.ts';
import { type Selection, selection } from './selectors.ts';
import { ExpiredContinue, notFound } from './status.ts';

/** Objects read from the store at a time; between two chunks others run. */
const chunkSize = 500;

export interface ListMeta {
  resourceVersion: string;
  continue?: string;
  remainingItemCount?: number;
}

/** GET of one object. */
export async function getObject(call: Call): Promise<Response> {
  const { definition, server, target } = call;
  const signal = deadline(call);
  const atLeast = revisionOf(call.query.get('resourceVersion'));
  if (atLeast) await reachRevision(call, atLeast);
  const key = objectKey(definition, call.namespace, target.name);
  const { item } = await server.store.get(key, { signal, ...(atLeast !== undefined && { atLeast }) });
  if (!item) throw notFound(definition, target.name);
  return respondItem(call, item);
}

/** Waits up to 3 s until the store is at `wanted`; then Timeout with the cause clients look for. */
export async function reachRevision(call: Call, wanted: number): Promise<void> {
  const until = Date.now() + 3000;
  let current = await call.server.store.revision();
  while (current < wanted && Date.now() < until && !call.server.closing.aborted) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    current = await call.server.store.revision();
  }
  if (current >= wanted) return;
  const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }];
  throw new ArcError('Timeout', `Timeout: Too large resource version: ${wanted}, current: ${current}`, {
    details: { causes, retryAfterSeconds: 1 },
  });
}

/** The part of a list that is fixed before the first item is read. */
interface Plan {
  prefix: string;
  selected: Selection;
  limit: number;
  revision: number | undefined;
  /** See ReadOptions. */
  atLeast: number | undefined;
  start: string | undefined;
}

/** GET of a collection. */
export async function listObjects(call: Call): Promise<Response> {
  const plan = await planList(call, listRequest(call.query, false));
  const { format, as, pretty } = call.format;
  const verbatim = format === 'json' && as === undefined && !wantsPretty(call, pretty);
  if (verbatim && plan.limit === 0) return streamList(call, plan);
  const { items, meta } = await collect(call, plan, deadline(call));
  if (verbatim) return respondRaw(call, listBytes(call, items, meta));
  return respondBody(call, await listBody(call, items, meta));
}

/** Throws TooManyRequests where a request would read a whole collection that is just being loaded into memory. */
export function refuseWhileLoading({ server }: Call, { limit }: ListRequest): void {
  if (server.store.synced || limit > 0) return;
  const details = { retryAfterSeconds: 1 };
  throw new ArcError('TooManyRequests', 'storage is (re)initializing', { details });
}

const anywhere = { revision: undefined, atLeast: undefined, start: undefined };

async function planList(call: Call, request: ListRequest): Promise<Plan> {
  const { definition } = call;
  refuseWhileLoading(call, request);
  const selected = selection(definition, request.labelSelector, request.fieldSelector);
  const namespace = call.namespace || (definition.scope === 'Namespaced' ? (selected.namespace ?? '') : '');
  const prefix = keyPrefix(definition, namespace);
  const plan: Plan = { prefix, selected, limit: request.limit, ...anywhere };
  const wanted = request.resourceVersion;
  plan.atLeast = wanted;
  if (wanted === 0) plan.limit = 0;
  if (request.continue !== '') {
    const from = decodeContinue(prefix, request.continue);
    if (from.revision > (await call.server.store.revision())) throw notIssued();
    plan.start = from.start;
    plan.revision = from.revision === -1 ? undefined : from.revision;
  } else if (wanted !== undefined && wanted !== 0) {
    await reachRevision(call, wanted);
    const exact = request.match === 'Exact' || (request.match === '' && request.limit > 0);
    if (exact) plan.revision = wanted;
  }
  return plan;
}

/** The next chunk; the first one fixes the revision that all others are read at. */
async function readChunk(call: Call, plan: Plan, limit: number, signal: AbortSignal): Promise<StoredList> {
  const options = {
    limit,
    signal,
    ...(plan.start !== undefined && { start: plan.start }),
    ...(plan.revision !== undefined && { revision: plan.revision }),
    ...(plan.atLeast !== undefined && { atLeast: plan.atLeast }),
  };
  try {
    return await call.server.store.list(plan.prefix, options);
  } catch (caught) {
    if (plan.start === undefined || !ArcError.is(caught, 'Expired')) throw caught;
    const message =
      'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';
    throw new ExpiredContinue(message, encodeContinue(plan.prefix, plan.start, -1));
  }
}

/** All chunks of a plan, one after another, at one revision. */
async function* chunks(call: Call, plan: Plan, signal: AbortSignal): AsyncGenerator<StoredList> {
  let at = plan;
  for (;;) {
    const size = at.limit > 0 && at.selected.everything ? Math.min(at.limit, chunkSize) : chunkSize;
    const list = await readChunk(call, at, size, signal);
    yield list;
    const last = list.items.at(-1);
    if (list.remaining === 0 || !last) return;
    at = { ...at, revision: list.revision, start: `${last.key}\0` };
    await breathe();
  }
}

/** A chosen item; `object` is there when choosing it needed a parse. */
interface Chosen {
  item: StoredItem;
  object: KubeObject | undefined;
}

function choose(selected: Selection, item: StoredItem): Chosen | undefined {
  if (selected.everything) return { item, object: undefined };
  if (!selected.mayMatch(item.value)) return undefined;
  const object = decodeObject(item);
  return selected.matches(object) ? { item, object } : undefined;
}

/** Reads until the page is full or the range ends. */
async function collect(
  call: Call,
  plan: Plan,
  signal: AbortSignal,
): Promise<{ items: Chosen[]; meta: ListMeta }> {
  const items: Chosen[] = [];
  let revision = 0;
  for await (const chunk of chunks(call, plan, signal)) {
    revision = chunk.revision;
    for (const [index, item] of chunk.items.entries()) {
      const chosen = choose(plan.selected, item);
      if (chosen) items.push(chosen);
      const left = chunk.remaining + chunk.items.length - 1 - index;
      if (plan.limit > 0 && items.length === plan.limit && left > 0) {
        const token = encodeContinue(plan.prefix, `${item.key}\0`, revision);
        const counted = plan.selected.everything ? { remainingItemCount: left } : {};
        return { items, meta: { resourceVersion: String(revision), continue: token, ...counted } };
      }
    }
  }
  return { items, meta: { resourceVersion: String(revision) } };
}

async function listBody(call: Call, items: Chosen[], metadata: ListMeta): Promise<object> {
  const objects: KubeObject[] = [];
  for (const [index, { item, object }] of items.entries()) {
    objects.push(object ?? decodeObject(item));
    if (index % chunkSize === chunkSize - 1) await breathe();
  }
  return listOf(call, objects, metadata);
}

/** A finished list in the form the client asked for. */
export function listOf(call: Call, objects: KubeObject[], metadata: ListMeta): object {
  const { definition, format, server } = call;
  if (format.as === 'Table') {
    return toTable(definition, objects, {
      includeObject: includeObjectOf(call.query),
      now: server.now(),
      listMeta: metadata,
      columnDefinitions: true,
    });
  }
  if (format.as === 'PartialObjectMetadata') {
    throw new ArcError(
      'NotAcceptable',
      'you requested PartialObjectMetadata, but the requested object is a list',
    );
  }
  if (format.as !== undefined) return toPartialList(objects, metadata);
  return { apiVersion: apiVersionOf(definition), kind: `${definition.kind}List`, metadata, items: objects };
}

/** One page, put together from stored bytes. */
function listBytes(call: Call, items: readonly Chosen[], metadata: ListMeta): Buffer {
  const parts: Buffer[] = [listHead(call, metadata)];
  for (const [index, { item }] of items.entries()) {
    if (index > 0) parts.push(comma);
    parts.push(withRevision(call.definition, item));
  }
  return Buffer.concat([...parts, end]);
}

/** What a list begins with, up to its first item. */
function listHead({ definition }: Call, metadata: ListMeta): Buffer {
  const head = { apiVersion: apiVersionOf(definition), kind: `${definition.kind}List`, metadata };
  return Buffer.from(`${JSON.stringify(head).slice(0, -1)},"items":[`);
}

/** The whole list as a stream of stored bytes: no object is parsed unless a selector asks for it. */
async function streamList(call: Call, plan: Plan): Promise<Response> {
  const { definition } = call;
  const source = chunks(call, plan, deadline(call));
  // The first chunk is read before the response begins, so that what fails early is still a Status.
  const first = await source.next();
  const revision = first.done ? 0 : first.value.revision;
  const head = listHead(call, { resourceVersion: String(revision) });
  let some = false;
  const bytesOf = (list: StoredList): Buffer[] => {
    const parts: Buffer[] = [];
    for (const item of list.items) {
      if (!choose(plan.selected, item)) continue;
      if (some) parts.push(comma);
      some = true;
      parts.push(withRevision(definition, item));
    }
    return parts;
  };
  const begin = Buffer.concat([head, ...(first.done ? [] : bytesOf(first.value))]);
  const more = !first.done && first.value.remaining > 0;
  if (!more) return respondRaw(call, Buffer.concat([begin, end]));
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(begin),
    async pull(controller) {
      try {
        const next = await source.next();
        if (!next.done) return controller.enqueue(Buffer.concat(bytesOf(next.value)));
        controller.enqueue(end);
        controller.close();
      } catch (caught) {
        // Too late for a Status: the client sees a body that ends too early.
        call.server.log('a list broke off', caught);
        controller.error(caught);
      }
    },
    async cancel() {
      await source.return(undefined);
    },
  });
  return respondRaw(call, body);
}

const comma = Buffer.from(',');
const end = Buffer.from(']}');
