import { pause, yieldToEventLoop } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import type { StoredItem, StoredList } from '#shared/kubernetes/storage';
import { notFound } from '../errors/api-errors.ts';
import { ExpiredContinue } from '../errors/status.ts';
import { decodeContinue, encodeContinue, notIssued } from '../registry/continue-token.ts';
import { indexerOf, isSelected } from '../registry/item-summary.ts';
import { objectKey, rangeOf } from '../registry/keys.ts';
import { type Selection, selection } from '../registry/selectors.ts';
import { itemSlices } from '../registry/stored-object.ts';
import type { ResourceRequest } from '../request/api-request.ts';
import { deadline } from '../request/api-request.ts';
import { type ListMeta, respondList } from '../response/list-response.ts';
import { respondItem } from '../response/respond.ts';
import { type ListOptions, listOptions, revisionOf } from './query-options.ts';

/** Serves GET of one object. */
export async function getObject(request: ResourceRequest): Promise<Response> {
  return respondItem(request, await readItem(request));
}

/** Returns the object in the URL. Rejects with NotFound. */
export async function readItem(request: ResourceRequest): Promise<StoredItem> {
  const { definition, server, info } = request;
  const signal = deadline(request);
  const atLeast = revisionOf(request.query.get('resourceVersion'));
  if (atLeast) await waitForRevision(request, atLeast);
  const key = objectKey(definition, request.namespace, info.name);
  const { item } = await server.store.get(key, { signal, ...(atLeast !== undefined && { atLeast }) });
  if (!item) throw notFound(definition, info.name);
  return item;
}

/** Waits up to 3 s for revision `wanted`. Rejects with Timeout and cause ResourceVersionTooLarge, which clients check. */
export async function waitForRevision(request: ResourceRequest, wanted: number): Promise<void> {
  const until = Date.now() + 3000;
  let current = await request.server.store.revision();
  while (current < wanted && Date.now() < until && !request.server.closing.aborted) {
    await pause(100, request.server.closing);
    current = await request.server.store.revision();
  }
  if (current >= wanted) return;
  const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }];
  throw new ArcError('Timeout', `Timeout: Too large resource version: ${wanted}, current: ${current}`, {
    details: { causes, retryAfterSeconds: 1 },
  });
}

/** The parameters of a list, resolved before the first read. */
interface ListPlan {
  prefix: string;
  /** Reads only keys with this prefix: `prefix`, or the key of a single object. */
  readPrefix: string;
  selected: Selection;
  limit: number;
  revision: number | undefined;
  /** See ReadOptions. */
  atLeast: number | undefined;
  start: string | undefined;
}

/** Serves GET of a collection. */
export async function listObjects(request: ResourceRequest): Promise<Response> {
  const { items, metadata } = await findObjects(request);
  return respondList(request, items, metadata);
}

/** Returns the objects that the query selects, or one page of them. */
export async function findObjects(
  request: ResourceRequest,
): Promise<{ items: StoredItem[]; metadata: ListMeta }> {
  const plan = await planList(request, listOptions(request.query, false));
  const list = await readList(request, plan);
  const items = await selectPage(request, plan, list.items);
  return { items, metadata: listMeta(plan, list, items) };
}

/** Throws TooManyRequests for an unlimited list or watch while the watch cache initializes. */
export function refuseWhileLoading({ server }: ResourceRequest, { limit }: ListOptions): void {
  if (server.store.synced || limit > 0) return;
  const details = { retryAfterSeconds: 1 };
  throw new ArcError('TooManyRequests', 'storage is (re)initializing', { details });
}

const unspecified = { revision: undefined, atLeast: undefined, start: undefined };

async function planList(request: ResourceRequest, options: ListOptions): Promise<ListPlan> {
  const { definition } = request;
  refuseWhileLoading(request, options);
  const selected = selection(definition, options.labelSelector, options.fieldSelector);
  const { prefix, key } = rangeOf(definition, request.namespace, selected);
  const plan: ListPlan = {
    prefix,
    readPrefix: key ?? prefix,
    selected,
    limit: options.limit,
    ...unspecified,
  };
  const wanted = options.resourceVersion;
  plan.atLeast = wanted;
  if (wanted === 0) plan.limit = 0;
  if (options.continue !== '') {
    const from = decodeContinue(prefix, options.continue);
    if (from.revision > (await request.server.store.revision())) throw notIssued();
    plan.start = from.start;
    plan.revision = from.revision === -1 ? undefined : from.revision;
  } else if (wanted !== undefined && wanted !== 0) {
    await waitForRevision(request, wanted);
    const exact = options.match === 'Exact' || (options.match === '' && options.limit > 0);
    if (exact) plan.revision = wanted;
  }
  return plan;
}

/** Returns the items of a plan at one revision: a page, or with a selector all items. */
async function readList(request: ResourceRequest, plan: ListPlan): Promise<StoredList> {
  const { indexValues } = plan.selected;
  const options = {
    limit: plan.selected.everything ? plan.limit : 0,
    signal: deadline(request),
    ...(plan.start !== undefined && { start: plan.start }),
    ...(plan.revision !== undefined && { revision: plan.revision }),
    ...(plan.atLeast !== undefined && { atLeast: plan.atLeast }),
    ...(indexValues !== undefined && {
      lookup: { indexer: indexerOf(request.definition), values: indexValues },
    }),
  };
  try {
    return await request.server.store.list(plan.readPrefix, options);
  } catch (caught) {
    if (plan.start === undefined || !ArcError.is(caught, 'Expired')) throw caught;
    const message =
      'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';
    throw new ExpiredContinue(message, encodeContinue(plan.prefix, plan.start, -1));
  }
}

/** Filters items until the page is full; yields to the event loop between slices. */
async function selectPage(
  { definition }: ResourceRequest,
  { selected, limit }: ListPlan,
  items: readonly StoredItem[],
): Promise<StoredItem[]> {
  if (selected.everything) return [...items];
  const chosen: StoredItem[] = [];
  for (const slice of itemSlices(items)) {
    for (const item of slice) {
      if (isSelected(definition, selected, item)) chosen.push(item);
      if (limit > 0 && chosen.length === limit) return chosen;
    }
    await yieldToEventLoop();
  }
  return chosen;
}

/** Returns the ListMeta of a page, with a continue token if more items follow. */
function listMeta(
  { prefix, selected, limit }: ListPlan,
  list: StoredList,
  page: readonly StoredItem[],
): ListMeta {
  const resourceVersion = String(list.revision);
  const last = page.at(-1);
  const isWhole = list.remaining === 0 && (selected.everything || last === list.items.at(-1));
  if (limit === 0 || page.length < limit || !last || isWhole) return { resourceVersion };
  const token = encodeContinue(prefix, `${last.key}\0`, list.revision);
  const counted = selected.everything ? { remainingItemCount: list.remaining } : {};
  return { resourceVersion, continue: token, ...counted };
}
