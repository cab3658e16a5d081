import { badRequest } from '../errors/api-errors.ts';
import type { KindDefinition } from '../kinds/definition.ts';

/** A request to a resource. Texts are empty where the path names nothing. */
export interface ResourceRequestInfo {
  isResourceRequest: true;
  verb: string;
  group: string;
  version: string;
  /** The plural name of the kind. */
  resource: string;
  subresource: string;
  namespace: string;
  /** The object that the path names, or the one name to which the field selector narrows a list or watch. */
  name: string;
  /** Path parts behind the subresource: no kind serves such paths. */
  rest: readonly string[];
}

/** The verb and the names in the path of a request, as RequestInfo of k8s.io/apiserver. Fits the authorizer's Attributes. */
export type RequestInfo = ResourceRequestInfo | { isResourceRequest: false; verb: string; path: string };

/**
 * Reads a request as the RequestInfoFactory of k8s.io/apiserver does: `/api/<version>/…` and `/apis/<group>/<version>/…` with
 * at least one more part name resources; everything else is a non-resource request. Throws BadRequest for names that would
 * leave their part of the registry.
 */
export function requestInfo(method: string, url: Pick<URL, 'pathname' | 'searchParams'>): RequestInfo {
  const named = parsePath(url.pathname);
  if (!named) return { isResourceRequest: false, verb: method.toLowerCase(), path: url.pathname };
  const verb = verbOf(method, named.name !== '', url.searchParams);
  const name = named.name || (isCollectionRead(verb) ? selectedName(url.searchParams) : '');
  return { isResourceRequest: true, verb, ...named, name };
}

/** True for a path with `.` or `..` between slashes, encoded or not: it would be read as another path than the one that was authorized. */
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

/** Query booleans as Go's conversion reads them: anything but absent, `0` and `false` is true. */
export function isTrue(value: string | null): boolean {
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}

/** The name in the path: '' for a collection, also where a field selector narrows it to one name. */
export function pathName({ verb, name }: ResourceRequestInfo): string {
  return isCollectionRead(verb) ? '' : name;
}

/** Finds the kind a request is for, or undefined where the path fits none. */
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
