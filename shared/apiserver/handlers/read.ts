import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { ArcError } from '#shared/errors';
import type { StoredItem, StoredList } from '#shared/storage';
import { notFound } from '../errors/resource-errors.ts';
import { ExpiredContinue } from '../errors/status.ts';
import { decodeContinue, encodeContinue, notIssued } from '../registry/continue-token.ts';
import { isSelected } from '../registry/item-summary.ts';
import { objectKey, rangeOf } from '../registry/keys.ts';
import { type Selection, selection } from '../registry/selectors.ts';
import type { ResourceRequest } from '../request/api-request.ts';
import { deadline } from '../request/deadline.ts';
import { type ListMeta, respondList } from '../response/list-response.ts';
import { respondItem } from '../response/respond.ts';
import { type ListOptions, listOptions, revisionOf } from './list-options.ts';

/** Objects looked at before others get their turn. */
const sliceItems = 500;

/** GET of one object. */
export async function getObject(request: ResourceRequest): Promise<Response> {
  const { definition, server, info } = request;
  const signal = deadline(request);
  const atLeast = revisionOf(request.query.get('resourceVersion'));
  if (atLeast) await waitForRevision(request, atLeast);
  const key = objectKey(definition, request.namespace, info.name);
  const { item } = await server.store.get(key, { signal, ...(atLeast !== undefined && { atLeast }) });
  if (!item) throw notFound(definition, info.name);
  return respondItem(request, item);
}

/** Waits up to 3 s until the store is at `wanted`; then Timeout with the cause clients look for. */
export async function waitForRevision(request: ResourceRequest, wanted: number): Promise<void> {
  const until = Date.now() + 3000;
  let current = await request.server.store.revision();
  while (current < wanted && Date.now() < until && !request.server.closing.aborted) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    current = await request.server.store.revision();
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
  /** What the items' keys begin with: the prefix or more. */
  within: string;
  selected: Selection;
  limit: number;
  revision: number | undefined;
  /** See ReadOptions. */
  atLeast: number | undefined;
  start: string | undefined;
}

/** GET of a collection. */
export async function listObjects(request: ResourceRequest): Promise<Response> {
  const plan = await planList(request, listOptions(request.query, false));
  const list = await readList(request, plan);
  const page = await choose(request, plan, list.items);
  return respondList(request, page, metaOf(plan, list, page));
}

/** Throws TooManyRequests where a request would read a whole collection that is just being loaded into memory. */
export function refuseWhileLoading({ server }: ResourceRequest, { limit }: ListOptions): void {
  if (server.store.synced || limit > 0) return;
  const details = { retryAfterSeconds: 1 };
  throw new ArcError('TooManyRequests', 'storage is (re)initializing', { details });
}

const anywhere = { revision: undefined, atLeast: undefined, start: undefined };

async function planList(request: ResourceRequest, options: ListOptions): Promise<Plan> {
  const { definition } = request;
  refuseWhileLoading(request, options);
  const selected = selection(definition, options.labelSelector, options.fieldSelector);
  const { prefix, key } = rangeOf(definition, request.namespace, selected);
  const plan: Plan = { prefix, within: key ?? prefix, selected, limit: options.limit, ...anywhere };
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

/** The items of a plan, all at one revision; more than a page where a selector has yet to choose among them. */
async function readList(request: ResourceRequest, plan: Plan): Promise<StoredList> {
  const options = {
    limit: plan.selected.everything ? plan.limit : 0,
    signal: deadline(request),
    ...(plan.start !== undefined && { start: plan.start }),
    ...(plan.revision !== undefined && { revision: plan.revision }),
    ...(plan.atLeast !== undefined && { atLeast: plan.atLeast }),
  };
  try {
    return await request.server.store.list(plan.within, options);
  } catch (caught) {
    if (plan.start === undefined || !ArcError.is(caught, 'Expired')) throw caught;
    const message =
      'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';
    throw new ExpiredContinue(message, encodeContinue(plan.prefix, plan.start, -1));
  }
}

/** The selected items, in slices with others in between, until the page is full. */
async function choose(
  { definition }: ResourceRequest,
  { selected, limit }: Plan,
  items: readonly StoredItem[],
): Promise<StoredItem[]> {
  if (selected.everything) return [...items];
  const chosen: StoredItem[] = [];
  for (const [index, item] of items.entries()) {
    if (isSelected(definition, selected, item)) chosen.push(item);
    if (limit > 0 && chosen.length === limit) break;
    if (index % sliceItems === sliceItems - 1) await yieldToEventLoop();
  }
  return chosen;
}

/** What the page says of itself: where it ends before the list does, how to go on. */
function metaOf({ prefix, selected, limit }: Plan, list: StoredList, page: readonly StoredItem[]): ListMeta {
  const resourceVersion = String(list.revision);
  const last = page.at(-1);
  const isWhole = list.remaining === 0 && (selected.everything || last === list.items.at(-1));
  if (limit === 0 || page.length < limit || !last || isWhole) return { resourceVersion };
  const token = encodeContinue(prefix, `${last.key}\0`, list.revision);
  const counted = selected.everything ? { remainingItemCount: list.remaining } : {};
  return { resourceVersion, continue: token, ...counted };
}
