import { Batches } from '#shared/base/async';
import type { KubeObject } from '#shared/base/meta';
import type { Kind, KubeClient, ListOptions, ListPage, ReadKey } from './client.ts';

/** Limit of objects or label values per request, which bounds the length of the URL. */
const maxBatch = 32;

/** A selector with a single label value. */
const oneValue = /^([A-Za-z0-9./_-]+)=([A-Za-z0-9._-]+)$/;

/** A read, with the client whose trace its request carries. */
interface Asked {
  client: KubeClient;
  name: string;
  /** The value of the label, if any. */
  value: string;
}

type AskedBySome = readonly [Asked, ...Asked[]];
type Reads = Map<string, Batches<Asked, unknown>>;

/**
 * Returns a client that coalesces concurrent reads: identical reads share a request, and lists by different values of a label, or gets with a
 * hint `among`, become one list. A read never gets the response of a request that began before it, so results are as fresh as without
 * sharing. Objects are shared and must not be mutated. `maxBytes`: the bound of a list that names none.
 */
export function sharedReads(client: KubeClient, maxBytes?: number): KubeClient {
  return over(client, new Map(), maxBytes);
}

function over(client: KubeClient, reads: Reads, maxBytes: number | undefined): KubeClient {
  const share = async <T>(
    what: readonly unknown[],
    { name = '', value = '' }: { name?: string; value?: string | undefined },
    call: (asked: AskedBySome) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> => {
    const id = JSON.stringify(what);
    const batches = reads.get(id) ?? new Batches<Asked, unknown>(call, maxBatch);
    reads.set(id, batches);
    try {
      const answer = await batches.ask({ client, name, value });
      // The request continues for other readers.
      signal?.throwIfAborted();
      // All reads with an id have the same type of result.
      return answer as T;
    } finally {
      if (batches.idle && reads.get(id) === batches) reads.delete(id);
    }
  };

  return {
    ...client,
    traced: (trace) => over(client.traced(trace), reads, maxBytes),

    async get<T extends KubeObject>(
      kind: Kind<T>,
      key: ReadKey,
      signal?: AbortSignal,
    ): Promise<T | undefined> {
      const { name, namespace, subresource = '', among = '' } = key;
      const what = ['get', kind.apiVersion, kind.plural, namespace];
      const [, label, value] = oneValue.exec(among) ?? [];
      if (label === undefined)
        return share([...what, name, subresource], {}, ([first]) => first.client.get(kind, key), signal);
      const call = (asked: AskedBySome) => getSome(kind, namespace, label, asked);
      const found = await share([...what, 'among', label], { name, value }, call, signal);
      return found.get(name);
    },

    async list<T extends KubeObject>(
      kind: Kind<T>,
      given: ListOptions = {},
      signal?: AbortSignal,
    ): Promise<ListPage<T>> {
      const options = { maxBytes, ...given };
      const { labelSelector = '', ...others } = options;
      const what = ['list', kind.apiVersion, kind.plural, others];
      const [, label, value] = oneValue.exec(labelSelector) ?? [];
      if (label === undefined || options.limit !== undefined) {
        const page = await share(
          [...what, labelSelector],
          {},
          ([first]) => first.client.list(kind, options),
          signal,
        );
        return { ...page, items: [...page.items] };
      }
      const call = (asked: AskedBySome) => listSome(kind, others, label, asked);
      const page = await share([...what, 'by', label], { value }, call, signal);
      return { ...page, items: page.items.filter(({ metadata }) => metadata.labels?.[label] === value) };
    },
  };
}

/** Reads objects by name with one list. Reads objects that are missing from the list individually: they may have lost the label. */
async function getSome<T extends KubeObject>(
  kind: Kind<T>,
  namespace: string | undefined,
  label: string,
  asked: AskedBySome,
): Promise<Map<string, T | undefined>> {
  const place = namespace === undefined ? {} : { namespace };
  const names = new Set(asked.map(({ name }) => name));
  const { items } = names.size === 1 ? { items: [] } : await listSome(kind, place, label, asked);
  const found = new Map<string, T | undefined>(items.map((item) => [item.metadata.name, item]));
  const left = [...names].filter((name) => !found.has(name));
  const [{ client }] = asked;
  await Promise.all(
    left.map(async (name) => void found.set(name, await client.get(kind, { ...place, name }))),
  );
  return found;
}

function listSome<T extends KubeObject>(
  kind: Kind<T>,
  options: ListOptions,
  label: string,
  asked: AskedBySome,
): Promise<ListPage<T>> {
  const values = [...new Set(asked.map(({ value }) => value))];
  const labelSelector = values.length === 1 ? `${label}=${values[0]}` : `${label} in (${values.join(',')})`;
  return asked[0].client.list(kind, { ...options, labelSelector });
}
