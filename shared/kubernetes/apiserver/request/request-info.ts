import { badRequest } from '../errors/api-errors.ts';
import type { KindDefinition } from '../kinds/definition.ts';

/** A request to a resource. A part that the path does not have is ''. */
export interface ResourceRequestInfo {
  isResourceRequest: true;
  verb: string;
  group: string;
  version: string;
  /** The plural name of the kind. */
  resource: string;
  subresource: string;
  namespace: string;
  /** The object name in the path, or in a `metadata.name` field selector of a list or watch. */
  name: string;
  /** Path segments after the subresource. No kind serves such paths. */
  rest: readonly string[];
}

/** The verb and path of a request, like RequestInfo of k8s.io/apiserver; compatible with the authorizer's Attributes. */
export type RequestInfo = ResourceRequestInfo | { isResourceRequest: false; verb: string; path: string };

/**
 * Parses a request like RequestInfoFactory of k8s.io/apiserver: `/api/<version>/…` and `/apis/<group>/<version>/…` with at least one
 * more segment are resource requests; everything else is a non-resource request. Throws BadRequest for names that would escape their
 * prefix in the store.
 */
export function requestInfo(method: string, url: Pick<URL, 'pathname' | 'searchParams'>): RequestInfo {
  const named = parsePath(url.pathname);
  if (!named) return { isResourceRequest: false, verb: method.toLowerCase(), path: url.pathname };
  const verb = verbOf(method, named.name !== '', url.searchParams);
  const name = named.name || (isCollectionRead(verb) ? selectedName(url.searchParams) : '');
  return { isResourceRequest: true, verb, ...named, name };
}

/** Tells whether a path has `.` or `..` segments, encoded or not. Normalized, it would differ from the authorized path. */
export function hasDotSegments(target: string): boolean {
  return /\/(\.|%2e){1,2}(\/|$)/i.test(target.split('?', 1)[0] ?? '');
}

type PathNames = Omit<ResourceRequestInfo, 'isResourceRequest' | 'verb'>;

function parsePath(path: string): PathNames | undefined {
  const parts = path.replace(/^\/+|\/+$/g, '').split('/');
  const core = parts[0] === 'api';
  if (!core && parts[0] !== 'apis') return undefined;
  const [group, version, ...inside] = core ? ['', ...parts.slice(1)] : parts.slice(1);
  if (group === undefined || version === undefined || inside.length === 0) return undefined;
  if (parts.includes('')) return undefined;
  const decoded = inside.map(decodePart);
  let namespace = '';
  let names = decoded;
  if (decoded[0] === 'namespaces' && decoded[1] !== undefined) {
    namespace = decoded[1];
    const ofNamespace = decoded[2] === undefined || decoded[2] === 'status' || decoded[2] === 'finalize';
    if (!ofNamespace) names = decoded.slice(2);
  }
  const [resource = '', name = '', subresource = '', ...rest] = names;
  return { group, version, resource, subresource, namespace, name, rest };
}

function decodePart(part: string): string {
  let decoded: string;
  try {
    decoded = decodeURIComponent(part);
  } catch {
    throw badRequest(`the path part "${part}" is not valid percent-encoding`);
  }
  if (decoded === '.' || decoded === '..' || /[/%\0]/.test(decoded)) {
    throw badRequest(`invalid path part "${part}": a name may not be '.' or '..' nor contain '/' or '%'`);
  }
  return decoded;
}

function verbOf(method: string, namesObject: boolean, query: URLSearchParams): string {
  switch (method) {
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return namesObject ? 'delete' : 'deletecollection';
    case 'GET':
    case 'HEAD':
      if (namesObject) return 'get';
      return isTrue(query.get('watch')) ? 'watch' : 'list';
    default:
      return '';
  }
}

function isCollectionRead(verb: string): boolean {
  return verb === 'list' || verb === 'watch';
}

function selectedName(query: URLSearchParams): string {
  return /^metadata\.name==?([^,=!\\]+)$/.exec(query.get('fieldSelector') ?? '')?.[1] ?? '';
}

/** Parses a boolean query parameter like k8s.io/apimachinery: everything except absent, `0` and `false` is true. */
export function isTrue(value: string | null): boolean {
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}

/** Returns the object name in the path, '' for a collection, even with a `metadata.name` field selector. */
export function pathName({ verb, name }: ResourceRequestInfo): string {
  return isCollectionRead(verb) ? '' : name;
}

/** Returns the kind that serves a request, or undefined. */
export function definitionFor(
  kinds: readonly KindDefinition[],
  info: ResourceRequestInfo,
): KindDefinition | undefined {
  const { group, version, resource, namespace } = info;
  const name = pathName(info);
  const found = kinds.find(
    (kind) => kind.group === group && kind.version === version && kind.plural === resource,
  );
  if (!found || info.rest.length > 0) return undefined;
  if (found.scope === 'Cluster') {
    const isNamespaceItself = resource === 'namespaces' && namespace === name;
    return namespace === '' || isNamespaceItself ? found : undefined;
  }
  return namespace === '' && name !== '' ? undefined : found;
}
