import { setTimeout as sleep } from 'node:timers/promises';
import { canonicalJson } from '../../shared/base/meta/json.ts';
import type { Body, HttpsClient, WatchEvent } from '../fixtures/http/https-client.ts';

/** What the corpus is sent to: the fake API or a real server. */
export type Api = Pick<HttpsClient, 'send' | 'watch'>;

/** A kind that both servers have. */
export interface Subject {
  apiVersion: string;
  kind: string;
  plural: string;
  namespace: string;
  /** Fields beside metadata; another `variant` is another content. */
  content(variant: string): Record<string, unknown>;
  /** The field of them that a merge patch may replace. */
  contentField: string;
  /** A status, where it is an endpoint of its own. */
  status?(variant: string): Record<string, unknown>;
}

/** Sends requests about one subject, and writes down the answers without what differs from run to run. */
export class Exchange {
  readonly answers: string[] = [];
  readonly #api: Api;
  readonly #subject: Subject;
  readonly #prefix: string;

  /** @param prefix begins the names of its objects, so that the parts of the corpus do not meet */
  constructor(api: Api, subject: Subject, prefix: string) {
    this.#api = api;
    this.#subject = subject;
    this.#prefix = prefix;
  }

  /** An object with this name, content and metadata. */
  object(name: string, metadata: object = {}, variant = 'a'): Record<string, unknown> {
    const { apiVersion, kind, content } = this.#subject;
    return { apiVersion, kind, metadata: { name: this.name(name), ...metadata }, ...content(variant) };
  }

  name(name: string): string {
    return name === '' ? '' : `${this.#prefix}-${name}`;
  }

  /** @param target the name of an object, with `/status` behind it, or a query */
  async send(method: string, target: string, body?: unknown): Promise<Body> {
    const reply = await this.#api.send(method, this.path(target), body);
    const answer = reply.body();
    this.answers.push(`${method} ${target} -> ${reply.code} ${canonicalJson(this.#comparable(answer))}`);
    return answer;
  }

  /** Reads so many events of a watch, while `during` happens. */
  async watch(query: string, count: number, during: () => Promise<void>): Promise<void> {
    const events: WatchEvent[] = [];
    const control = new AbortController();
    const reading = this.#api.watch(
      this.path(`?watch=true&timeoutSeconds=20${query}`),
      (event) => {
        if (event.type !== 'BOOKMARK') events.push(event);
        if (events.length === count) setTimeout(() => control.abort(), 100);
      },
      control.signal,
    );
    await sleep(50);
    await during();
    await reading.catch((caught: unknown) => {
      if (!control.signal.aborted) throw caught;
    });
    for (const { type, object } of events)
      this.answers.push(`watch${query} -> ${type} ${canonicalJson(this.#comparable(object))}`);
  }

  path(target: string): string {
    const { apiVersion, namespace, plural } = this.#subject;
    const root = apiVersion.includes('/') ? 'apis' : 'api';
    const collection = `/${root}/${apiVersion}/namespaces/${namespace}/${plural}`;
    return target === '' || target.startsWith('?')
      ? `${collection}${target}`
      : `${collection}/${this.name(target)}`;
  }

  get subject(): Subject {
    return this.#subject;
  }

  /** An answer as it is compared: an object by what the rules of the API decide, a Status by what clients act on. */
  #comparable(body: Body): unknown {
    if (body.items) {
      const { continue: next, remainingItemCount } = body.metadata as {
        remainingItemCount?: number;
      } & Body['metadata'];
      const items = body.items.map((item) => item.metadata.name);
      return { items, continued: Boolean(next), remainingItemCount };
    }
    const { kind, status, reason, message, details } = body;
    if (kind === 'Status')
      return { kind, status, reason, message: withoutIds(message), details: detailsOf(details) };
    const { name, namespace, generation, labels, finalizers, deletionTimestamp } = body.metadata;
    return {
      kind,
      name,
      namespace,
      labels,
      finalizers,
      deleted: deletionTimestamp !== undefined,
      ...(this.#subject.status && { generation }),
      content: body[this.#subject.contentField],
      status,
    };
  }
}

/** A message without uids, versions, keys of the store, and the words of a parser. */
function withoutIds(message = ''): string {
  return message
    .replace(/StorageError: .*AdditionalErrorMsg: /, '')
    .replace(/^(unable to parse requirement): .*/, '$1')
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}|uid-[\w-]+/g, '<uid>')
    .replace(/(resourceVersion|ResourceVersion)([^()]*)\(\d+\)/g, '$1$2(<version>)');
}

/** kube-apiserver names some faults of the metadata twice. */
function distinct(causes: readonly unknown[]): unknown[] {
  return [...new Map(causes.map((cause) => [canonicalJson(cause), cause])).values()];
}

function detailsOf(details: unknown): unknown {
  const { name, kind, group, causes } = (details ?? {}) as Record<string, unknown>;
  return { name, kind, group, causes: Array.isArray(causes) ? distinct(causes) : causes };
}

/** The corpus: parts that know nothing of each other. */
export const parts: Readonly<Record<string, (exchange: Exchange) => Promise<void>>> = {
  async creates(api) {
    await api.send('POST', '', api.object('one', { labels: { a: 'b' } }));
    await api.send('POST', '', api.object('one'));
    await api.send('POST', '', api.object(''));
    await api.send('POST', '', api.object('Upper.Case'));
    await api.send('POST', '', api.object('elsewhere', { namespace: 'another' }));
    await api.send('POST', '', { ...api.object('other-version'), apiVersion: 'example.com/v7' });
    await api.send('POST', '', api.object('versioned', { resourceVersion: '7' }));
    const claimed = { uid: 'mine', generation: 9, deletionTimestamp: '2020-01-01T00:00:00Z' };
    const made = await api.send('POST', '', api.object('claims', claimed));
    api.answers.push(`its uid is the server's: ${made.metadata.uid !== claimed.uid}`);
    const { status } = api.subject;
    if (status) await api.send('POST', '', { ...api.object('with-status'), status: status('a') });
  },

  async 'generated names'(api) {
    const made = await api
      .send('POST', '', api.object('', { generateName: 'generated-' }))
      .catch(() => undefined);
    api.answers.pop();
    api.answers.push(`it has a name: ${/^generated-\w{5}$/.test(made?.metadata.name ?? '')}`);
  },

  async reads(api) {
    await api.send('POST', '', api.object('one'));
    await api.send('GET', 'one');
    await api.send('GET', 'absent');
    if (api.subject.status) for (const name of ['one', 'absent']) await api.send('GET', `${name}/status`);
  },

  async updates(api) {
    const one = await api.send('POST', '', api.object('one', { labels: { a: 'b' } }));
    const version = { resourceVersion: one.metadata.resourceVersion };
    const same = await api.send('PUT', 'one', api.object('one', { ...version, labels: { a: 'b' } }));
    api.answers.push(`no change, no version: ${same.metadata.resourceVersion === version.resourceVersion}`);
    await api.send('PUT', 'one', api.object('one', version, 'b'));
    await api.send('PUT', 'one', api.object('one', version, 'c'));
    await api.send('PUT', 'one', api.object('one', {}, 'd'));
    const now = await api.send('GET', 'one');
    const { resourceVersion } = now.metadata;
    await api.send('PUT', 'one', api.object('one', { resourceVersion, uid: 'another' }, 'e'));
    await api.send('PUT', 'one', api.object('two', { resourceVersion }, 'f'));
    await api.send('PUT', 'absent', api.object('absent', { resourceVersion: '1' }));
  },

  async patches(api) {
    const { contentField, content } = api.subject;
    const one = await api.send('POST', '', api.object('one', { labels: { a: 'b', c: 'd' } }));
    await api.send('PATCH', 'one', { metadata: { labels: { a: null, e: 'f' } } });
    await api.send('PATCH', 'one', { [contentField]: content('b')[contentField] });
    const before = await api.send('GET', 'one');
    const after = await api.send('PATCH', 'one', {});
    api.answers.push(`nothing: ${before.metadata.resourceVersion === after.metadata.resourceVersion}`);
    const stale = { metadata: { resourceVersion: one.metadata.resourceVersion, labels: { late: 'yes' } } };
    await api.send('PATCH', 'one', stale);
    await api.send('PATCH', 'one', { metadata: { uid: 'another' } });
    await api.send('PATCH', 'one', { metadata: { generation: 77, labels: { g: 'h' } } });
    await api.send('PATCH', 'absent', { metadata: { labels: { a: 'b' } } });
  },

  async 'the status endpoint'(api) {
    const { status, contentField, content } = api.subject;
    if (!status) return;
    await api.send('POST', '', api.object('one'));
    const mixed = { status: status('a'), [contentField]: content('b')[contentField] };
    await api.send('PATCH', 'one', mixed);
    await api.send('PATCH', 'one/status', { ...mixed, metadata: { labels: { a: 'b' } } });
    const { resourceVersion } = (await api.send('GET', 'one')).metadata;
    await api.send('PUT', 'one/status', {
      ...api.object('one', { resourceVersion }, 'c'),
      status: status('d'),
    });
    await api.send('PATCH', 'one/status', { metadata: { resourceVersion }, status: status('e') });
    await api.send('PUT', 'one', api.object('one', { resourceVersion }));
    const now = (await api.send('GET', 'one')).metadata;
    await api.send('PUT', 'one', api.object('one', { resourceVersion: now.resourceVersion }));
    await api.send('PATCH', 'absent/status', { status: status('a') });
  },

  async deletes(api) {
    const one = await api.send('POST', '', api.object('one'));
    const { uid, resourceVersion } = one.metadata;
    await api.send(
      'DELETE',
      'one',
      options({ preconditions: { uid: '0e1b2c3d-0000-0000-0000-000000000000' } }),
    );
    await api.send('DELETE', 'one', options({ preconditions: { uid, resourceVersion: '1' } }));
    await api.send('DELETE', 'one', options({ preconditions: { uid, resourceVersion } }));
    await api.send('DELETE', 'one');
    const again = await api.send('POST', '', api.object('one'));
    api.answers.push(`another one: ${again.metadata.uid !== uid}`);
    await api.send('DELETE', 'one');
    await api.send('GET', 'one');
  },

  async finalizers(api) {
    await api.send('POST', '', api.object('held', { finalizers: ['example.com/hold'] }));
    await api.send('DELETE', 'held', options({ propagationPolicy: 'Background' }));
    await api.send('DELETE', 'held');
    await api.send('PATCH', 'held', { metadata: { labels: { still: 'here' } } });
    await api.send('PATCH', 'held', { metadata: { deletionTimestamp: null } });
    await api.send('PATCH', 'held', { metadata: { finalizers: ['example.com/hold', 'example.com/more'] } });
    await api.send('POST', '', api.object('held'));
    await api.send('PATCH', 'held', { metadata: { finalizers: null } });
    await api.send('GET', 'held');
  },

  async 'propagation policies'(api) {
    for (const [name, propagationPolicy] of [
      ['parent', 'Foreground'],
      ['left', 'Orphan'],
    ] as const) {
      await api.send('POST', '', api.object(name, { finalizers: ['example.com/hold'] }));
      await api.send('DELETE', name, options({ propagationPolicy }));
      await api.send('PATCH', name, { metadata: { finalizers: [] } });
    }
  },

  async 'label selectors'(api) {
    const labels = { a: { app: 'x', tier: '1' }, b: { app: 'y', tier: '2' }, c: { app: 'x' }, d: {} };
    for (const [name, each] of Object.entries(labels))
      await api.send('POST', '', api.object(name, { labels: { ...each, part: 'selectors' } }));
    for (const selector of [
      'app=x',
      'app==x,tier=1',
      'app!=x,part=selectors',
      'app in (x,y),tier',
      'app notin (x),part=selectors',
      '!tier,part=selectors',
      'part = selectors , app',
      'app=x,app=y',
      'app in (',
    ])
      await api.send('GET', `?labelSelector=${encodeURIComponent(selector)}`);
  },

  async 'field selectors'(api) {
    await api.send('POST', '', api.object('a', { labels: { part: 'fields' } }));
    await api.send('POST', '', api.object('b', { labels: { part: 'fields' } }));
    await api.send('GET', `?fieldSelector=metadata.name%3D${api.name('a')}`);
    const rest = `metadata.name!=${api.name('a')},metadata.namespace=${api.subject.namespace}`;
    await api.send('GET', `?labelSelector=part%3Dfields&fieldSelector=${encodeURIComponent(rest)}`);
  },

  async pages(api) {
    for (const name of ['c', 'a', 'b'])
      await api.send('POST', '', api.object(name, { labels: { part: 'pages' } }));
    const query = '?labelSelector=part%3Dpages&limit=2';
    const first = await api.send('GET', query);
    await api.send('POST', '', api.object('bb', { labels: { part: 'pages' } }));
    const next = encodeURIComponent(first.metadata.continue ?? '');
    const second = await api.send('GET', `${query}&continue=${next}`);
    api.answers.pop();
    const revisions = [first, second].map(({ metadata }) => metadata.resourceVersion);
    api.answers.push(
      `${second.items?.map(({ metadata }) => metadata.name)}, ${revisions[0] === revisions[1]}`,
    );
  },

  async watches(api) {
    const one = await api.send('POST', '', api.object('one', { labels: { part: 'watches' } }));
    const query = `&labelSelector=part%3Dwatches&resourceVersion=${one.metadata.resourceVersion}`;
    await api.watch(query, 6, async () => {
      await api.send('POST', '', api.object('two', { labels: { part: 'watches' } }));
      await api.send('POST', '', api.object('unseen'));
      await api.send('PATCH', 'one', { metadata: { labels: { more: 'yes' } } });
      await api.send('PATCH', 'one', { metadata: { labels: { part: null } } });
      await api.send('PATCH', 'unseen', { metadata: { labels: { part: 'watches' } } });
      await api.send('PATCH', 'two', { metadata: { finalizers: ['example.com/hold'] } });
      await api.send('DELETE', 'unseen');
    });
  },
};

function options(how: object): object {
  return { apiVersion: 'v1', kind: 'DeleteOptions', ...how };
}

/** Sends one part of the corpus. @returns the answers, comparable between servers */
export async function sendPart(name: string, api: Api, subject: Subject): Promise<string[]> {
  const exchange = new Exchange(api, subject, name.replaceAll(' ', '-'));
  await parts[name]?.(exchange);
  // Versions in queries differ.
  return exchange.answers.map((line) => line.replace(/resourceVersion=\d+/, 'resourceVersion=<version>'));
}

/** Kinds of Kubernetes itself: a generation only some have, no status of their own. */
export const configMaps = (namespace: string): Subject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespace,
  content: (variant) => ({ data: { key: variant } }),
  contentField: 'data',
});

/** A kind with generation and status endpoint. */
export const orders = (namespace: string, apiVersion = 'arc.opendefense.cloud/v1alpha1'): Subject => ({
  apiVersion,
  kind: 'Order',
  plural: 'orders',
  namespace,
  content: (variant) => ({
    spec: {
      artifacts: [{ type: 'oci', srcRef: { name: 'a' }, dstRef: { name: 'b' }, spec: { image: variant } }],
    },
  }),
  contentField: 'spec',
  status: (message) => ({ message }),
});
