import { ArcError } from '#shared/base/errors';
import type { KubeObject } from '#shared/base/meta';
import type { Key, Kind, KubeClient, ListPage, Selection } from '#shared/kubernetes/client';
import type { FakeApi } from '../../../shared/kubernetes/client/testing/fake-api/fake-api.ts';

type Asked = Parameters<FakeApi['answer']>[0];

/** A client that calls the fake API without HTTP: the model makes half a million calls. It has no watch. */
export function directClient(api: FakeApi): KubeClient {
  const ask = (
    verb: Asked['verb'],
    { apiVersion, plural }: Kind,
    { name, namespace }: Partial<Key>,
    more: Pick<Partial<Asked>, 'body' | 'subresource'> = {},
    query?: URLSearchParams,
  ): unknown => {
    const where = { name: name ?? '', ...(namespace !== undefined && { namespace }) };
    const request = { verb, apiVersion, resource: plural, ...where, ...more };
    const answer = api.answer(request, query);
    api.answered(request, 200);
    return answer;
  };
  const client: KubeClient = {
    traced: () => client,
    get: async <T extends KubeObject>(kind: Kind<T>, key: Key) => orAbsent(() => ask('get', kind, key) as T),
    getMetadata: async (kind, key) => orAbsent(() => ask('get', kind, key) as KubeObject),
    async list<T extends KubeObject>(
      kind: Kind<T>,
      { namespace, labelSelector, fieldSelector }: Selection = {},
    ): Promise<ListPage<T>> {
      const query = new URLSearchParams({
        ...(labelSelector !== undefined && { labelSelector }),
        ...(fieldSelector !== undefined && { fieldSelector }),
      });
      const where = namespace === undefined ? {} : { namespace };
      const list = ask('list', kind, where, {}, query) as {
        metadata: { resourceVersion: string };
        items: T[];
      };
      return { items: list.items, resourceVersion: list.metadata.resourceVersion };
    },
    create: async <T extends KubeObject>(kind: Kind<T>, body: T) =>
      ask('create', kind, body.metadata, { body }) as T,
    replace: async <T extends KubeObject>(kind: Kind<T>, body: T) =>
      ask('update', kind, body.metadata, { body }) as T,
    mergePatch: async <T extends KubeObject>(
      kind: Kind<T>,
      key: Key,
      patch: object,
      where: { subresource?: 'status' } = {},
    ) => ask('patch', kind, key, { body: { ...patch }, ...where }) as T,
    log: async () => '',
    async delete(kind, key, { propagationPolicy = 'Background', ...preconditions } = {}) {
      const body = { propagationPolicy, preconditions };
      return (await orAbsent(() => ask('delete', kind, key, { body }))) !== undefined;
    },
    watch() {
      throw new ArcError('MethodNotAllowed', 'the model has no watches');
    },
  };
  return client;
}

async function orAbsent<T>(attempt: () => T): Promise<T | undefined> {
  try {
    return attempt();
  } catch (caught) {
    if (ArcError.is(caught, 'NotFound')) return undefined;
    throw caught;
  }
}
