/** What a request is about, in the words of RBAC. */
export interface ApiRequest {
  verb: 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete';
  apiVersion: string;
  /** The plural: `orders`. */
  resource: string;
  subresource?: 'status' | 'log';
  namespace?: string;
  /** Of an object that is to be created: as its body says; empty for a collection. */
  name: string;
  /** True where the metadata of the objects is asked for, and nothing else of them. */
  metadataOnly?: true;
  /** What was sent: an object, a patch, DeleteOptions. */
  body?: Record<string, unknown>;
}

/** The group of an apiVersion; empty for core. */
export function groupOf(apiVersion: string): string {
  return apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
}

/** The plural of a kind by the rule that Kubernetes guesses with (meta.UnsafeGuessKindToResource). */
export function pluralOf(kind: string): string {
  const singular = kind.toLowerCase();
  if (/(s|x|ch|sh)$/.test(singular)) return `${singular}es`;
  return singular.endsWith('y') ? `${singular.slice(0, -1)}ies` : `${singular}s`;
}

const builtIn = ['', 'coordination.k8s.io', 'rbac.authorization.k8s.io'];
const plain = ['artifacttypes', 'clusterartifacttypes'];

/** Kinds of Kubernetes itself that we use have no generation; custom resources have one. */
export function hasGeneration({ apiVersion }: Pick<ApiRequest, 'apiVersion'>): boolean {
  return !builtIn.includes(groupOf(apiVersion));
}

/** True where status is an endpoint of its own; Argo's definitions have none, their status is a field like others. */
export function hasStatus({ apiVersion, resource }: Pick<ApiRequest, 'apiVersion' | 'resource'>): boolean {
  const group = groupOf(apiVersion);
  if (builtIn.includes(group)) return resource === 'namespaces';
  return group !== 'argoproj.io' && !plain.includes(resource);
}

/** What the status of a new object says. */
export function initialStatus(request: Pick<ApiRequest, 'apiVersion' | 'resource'>): object | undefined {
  const isOurs = groupOf(request.apiVersion) === 'arc.opendefense.cloud';
  return isOurs && hasStatus(request) ? { observedGeneration: -1 } : undefined;
}

/** Custom resources insist on a resourceVersion in an update; kinds of Kubernetes take it as it comes. */
export function needsVersion({ apiVersion }: Pick<ApiRequest, 'apiVersion'>): boolean {
  return groupOf(apiVersion) !== '';
}

const selectable: Readonly<Record<string, readonly string[]>> = {
  secrets: ['type'],
  events: [
    ...['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].map(
      (field) => `involvedObject.${field}`,
    ),
    ...['reason', 'type', 'source', 'reportingComponent'],
  ],
  namespaces: ['status.phase'],
  pods: ['status.phase'],
};

/** The fields that a field selector may name. */
export function selectableFields({ apiVersion, resource }: Pick<ApiRequest, 'apiVersion' | 'resource'>) {
  const own = apiVersion === 'v1' ? (selectable[resource] ?? []) : [];
  return ['metadata.name', 'metadata.namespace', ...own];
}
