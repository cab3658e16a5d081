import { Batches } from '#shared/base/async';
import type { KubeObject } from '#shared/base/meta';
import type { Kind, KubeClient, ListOptions, ListPage, ReadKey } from './client.ts';

/** Objects or label values per request: the length of the URL is bounded. */
const most = 32;

/** A selector of one value of one label. */
const oneValue = /^([A-Za-z0-9./_-]+)=([A-Za-z0-9._-]+)$/;

/** The readers of one client, whose requests carry its trace. */
interface Asked {
  client: KubeClient;
  name: string;
  /** The value of the label, if there is one. */
  value: string;
}

type AskedBySome = readonly [Asked, ...Asked[]];
type Reads = Map<string, Batches<Asked, unknown>>;

/**
 * Returns the client with shared reads: concurrent reads of the same thing share one request; lists by several values of a
 * label are one list, and so are objects with a hint `among`. A reader never gets the answer of a request that began before the read, so
 * each answer is as fresh as its own would be. The objects are shared as well: they must not be modified.
 */
export function sharedReads(client: KubeClient): KubeClient {
  return over(client, new Map());
}

function over(client: KubeClient, reads: Reads): KubeClient {
  const share = async <T>(
    what: readonly unknown[],
    { name = '', value = '' }: { name?: string; value?: string | undefined },
    call: (asked: AskedBySome) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> => {
    const id = JSON.stringify(what);
    const batches = reads.get(id) ?? new Batches<Asked, unknown>(call, most);
    reads.set(id, batches);
    try {
      const answer = await batches.ask({ client, name, value });
      // Others keep waiting for the request.
      signal?.throwIfAborted();
      // One id has one type of answer.
      return answer as T;
    } finally {
      if (batches.idle && reads.get(id) === batches) reads.delete(id);
    }
  };

  return {
    ...client,
    traced: (trace) => over(client.traced(trace), reads),

    async get<T extends KubeObject>(
      kind: Kind<T>,
      key: ReadKey,
      signal?: AbortSignal,
    ): Promise<T | undefined> {
      const { name, namespace, among = '' } = key;
      const what = ['get', kind.apiVersion, kind.plural, namespace];
      const [, label, value] = oneValue.exec(among) ?? [];
      if (label === undefined)
        return share([...what, name], {}, ([first]) => first.client.get(kind, key), signal);
      const call = (asked: AskedBySome) => getSome(kind, namespace, label, asked);
      const found = await share([...what, 'among', label], { name, value }, call, signal);
      return found.get(name);
    },

    async list<T extends KubeObject>(
      kind: Kind<T>,
      options: ListOptions = {},
      signal?: AbortSignal,
    ): Promise<ListPage<T>> {
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

/** Reads the objects by name. An object missing from the list has lost its label, or does not exist. */
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
