/** `admin` may do everything, `nobody` has no rights, `wrong` sends a token the server does not know. */
export type UserName = 'admin' | 'nobody' | 'wrong' | 'anonymous';

/**
 * One request of the corpus. In `path`, `body` and `headers`, `@{ns}` is the scenario's own namespace, `@{group}` the
 * server's API group, and `@{x}` what an earlier step captured as x.
 */
export interface Step {
  /** Where `explained.json` speaks of the step: unique in its scenario. */
  name?: string;
  method: string;
  path: string;
  /** An object is sent as JSON, text as it is. */
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  as?: UserName;
  /** The part of a JSON body that is compared, where the rest is the server's own business. */
  pick?: (body: Record<string, unknown>, group: string) => unknown;
  /** Name to dotted path in the response, for later steps: `{ rv: 'metadata.resourceVersion' }`. */
  capture?: Readonly<Record<string, string>>;
  /** Makes it a watch: how many lines should come, and what is done meanwhile (not compared). */
  watch?: { lines: number; during?: readonly Step[] };
}

/** Requests sent in this order, to both servers, in a namespace of their own. */
export interface Scenario {
  name: string;
  steps: readonly Step[];
}

/** The same step with a name that an explanation can refer to. */
export const named = (name: string, step: Step): Step => ({ ...step, name });

export const root = '/apis/@{group}/v1alpha1';

/** Path of a collection in the scenario's namespace, or of one object in it, or of its subresource. */
export function inNamespace(plural: string, name = '', subresource = ''): string {
  return [`${root}/namespaces/@{ns}/${plural}`, name, subresource].filter((part) => part !== '').join('/');
}

export const orders = (name = '', subresource = '') => inNamespace('orders', name, subresource);
export const endpoints = (name = '', subresource = '') => inNamespace('endpoints', name, subresource);

type More = Partial<Omit<Step, 'method' | 'path' | 'body'>>;

export const get = (path: string, more: More = {}): Step => ({ method: 'GET', path, ...more });
export const post = (path: string, body: unknown, more: More = {}): Step => ({
  method: 'POST',
  path,
  body,
  ...more,
});
export const put = (path: string, body: unknown, more: More = {}): Step => ({
  method: 'PUT',
  path,
  body,
  ...more,
});
export const remove = (path: string, body?: unknown, more: More = {}): Step => ({
  method: 'DELETE',
  path,
  ...(body === undefined ? {} : { body }),
  ...more,
});

function patchOf(type: string) {
  return (path: string, body: unknown, more: More = {}): Step => ({
    method: 'PATCH',
    path,
    body,
    ...more,
    headers: { 'content-type': type, ...more.headers },
  });
}
export const merge = patchOf('application/merge-patch+json');
export const jsonPatch = patchOf('application/json-patch+json');
export const strategic = patchOf('application/strategic-merge-patch+json');
export const apply = patchOf('application/apply-patch+yaml');

/** A watch that should print `lines` lines, the steps of `during` being done while it is open. */
export function watch(path: string, lines: number, during: readonly Step[] = [], more: More = {}): Step {
  const separator = path.includes('?') ? '&' : '?';
  return { method: 'GET', path: `${path}${separator}watch=true`, ...more, watch: { lines, during } };
}

export const accept = (value: string): More => ({ headers: { accept: value } });

interface Meta {
  name?: string;
  [field: string]: unknown;
}

/** An object of our group; a name stands for metadata with nothing else. */
export function object(kind: string, metadata: string | Meta, fields: object = {}): Record<string, unknown> {
  return {
    apiVersion: '@{group}/v1alpha1',
    kind,
    metadata: typeof metadata === 'string' ? { name: metadata } : metadata,
    ...fields,
  };
}

/** An Order; `spec` defaults to one valid artifact. */
export function order(
  metadata: string | Meta,
  spec: object = { artifacts: [artifact()] },
  more: object = {},
) {
  return object('Order', metadata, { spec, ...more });
}

export function artifact(more: object = {}): object {
  return {
    type: 'oci',
    srcRef: { name: 'src' },
    dstRef: { name: 'dst' },
    spec: { image: 'team/app:1.0' },
    ...more,
  };
}

export function endpoint(metadata: string | Meta, spec: object = {}) {
  const base = {
    type: 'oci',
    remoteURL: 'https://registry.example',
    usage: 'All',
    secretRef: { name: 'creds' },
  };
  return object('Endpoint', metadata, { spec: { ...base, ...spec } });
}
