/** A parsed request, with the field names of RBAC. */
export interface ApiRequest {
  verb: 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete';
  apiVersion: string;
  /** The plural name, such as `orders`. */
  resource: string;
  /** `pendingworkloads` of Kueue's visibility API is read as the object itself. */
  subresource?: 'status' | 'log' | 'pendingworkloads';
  namespace?: string;
  /** For a create, the name in the body; empty for a collection. */
  name: string;
  /** True: the client requests PartialObjectMetadata. */
  metadataOnly?: true;
  /** The body: an object, a patch or DeleteOptions. */
  body?: Record<string, unknown>;
}

/** Returns the group of an apiVersion; '' for core. */
export function groupOf(apiVersion: string): string {
  return apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
}

/** Returns the plural of a kind, like meta.UnsafeGuessKindToResource. */
export function pluralOf(kind: string): string {
  const singular = kind.toLowerCase();
  if (/(s|x|ch|sh)$/.test(singular)) return `${singular}es`;
  return singular.endsWith('y') ? `${singular.slice(0, -1)}ies` : `${singular}s`;
}

const builtIn = ['', 'coordination.k8s.io', 'rbac.authorization.k8s.io'];
const plain = ['artifacttypes', 'clusterartifacttypes'];

/** Tells whether objects have a generation, as custom resources do, unlike the built-in kinds used here. */
export function hasGeneration({ apiVersion }: Pick<ApiRequest, 'apiVersion'>): boolean {
  return !builtIn.includes(groupOf(apiVersion));
}

/** Tells whether the kind has a status subresource. Argo's CRDs have none. */
export function hasStatus({ apiVersion, resource }: Pick<ApiRequest, 'apiVersion' | 'resource'>): boolean {
  const group = groupOf(apiVersion);
  if (builtIn.includes(group)) return resource === 'namespaces';
  return group !== 'argoproj.io' && !plain.includes(resource);
}

/** Returns the status of a new object. */
export function initialStatus(request: Pick<ApiRequest, 'apiVersion' | 'resource'>): object | undefined {
  const isOurs = groupOf(request.apiVersion) === 'arc.opendefense.cloud';
  return isOurs && hasStatus(request) ? { observedGeneration: -1 } : undefined;
}

/** Tells whether an update requires a resourceVersion, as for custom resources, unlike built-in kinds. */
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

/** Returns the fields supported in field selectors. */
export function selectableFields({ apiVersion, resource }: Pick<ApiRequest, 'apiVersion' | 'resource'>) {
  const own = apiVersion === 'v1' ? (selectable[resource] ?? []) : [];
  return ['metadata.name', 'metadata.namespace', ...own];
}
