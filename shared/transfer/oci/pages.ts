import { isRecord } from '#shared/base/meta';
import { maxManifestBytes } from '../content/manifest.ts';
import { TransferError } from '../errors/transfer-error.ts';
import { nextPage } from './next-page.ts';
import type { RegistryClient, RegistryResponse } from './registry-client.ts';

/** A paginated list of names. */
export interface PagedList {
  /** The path of the first page. */
  target: string;
  /** `https://host[:port]` of the registry. */
  origin: string;
  /** Statuses that `namesIn` handles. */
  expect: readonly number[];
  /** For messages, as in "listing the tags". */
  activity: string;
  /** As in "tags in repository team/app". */
  what: string;
  /** The names of one page; throws a TransferError. */
  namesIn(response: RegistryResponse): string[];
}

const maxNames = 100_000;
/** Registries filter a page after counting it, so some pages are empty. A list whose pages form a loop stays idle forever. */
const maxIdlePages = 100;

/** Reads all pages and returns each name once, up to 100,000 names. Rejects with a TransferError. */
export async function readPages(
  list: PagedList,
  send: RegistryClient,
  signal: AbortSignal,
): Promise<string[]> {
  const { origin, expect, activity, what } = list;
  const found = new Set<string>();
  let idle = 0;
  let target: string | URL | undefined = list.target;
  while (target !== undefined) {
    const response: RegistryResponse = await send(
      { method: 'GET', target, expect, activity, limit: maxManifestBytes },
      signal,
    );
    const before = found.size;
    for (const name of list.namesIn(response)) found.add(name);
    if (found.size > maxNames)
      throw new TransferError('permanent', `There are more than ${maxNames} ${what}.`);
    if (found.size === before) idle += 1;
    if (idle > maxIdlePages) {
      const { host } = new URL(origin);
      const message = `Registry ${host} returned more than ${maxIdlePages} pages without a new entry while ${activity}: its list of ${what} does not end.`;
      throw new TransferError('permanent', message);
    }
    target = nextPage(response.headers.link, new URL(target, origin));
  }
  return [...found];
}

/** The list of strings in a member of a JSON body; null is an empty list. Undefined if the member is no list. */
export function stringsIn(bytes: Buffer | undefined, member: string): string[] | undefined {
  let parsed: unknown;
  try {
    parsed = bytes && JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
  const list = isRecord(parsed) ? (parsed[member] ?? []) : undefined;
  return Array.isArray(list) ? list.filter((name): name is string => typeof name === 'string') : undefined;
}
