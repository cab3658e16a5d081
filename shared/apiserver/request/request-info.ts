import type { Attributes } from '../authorization/authorizer.ts';
import { badRequest } from '../errors/status.ts';
import type { KindDefinition } from '../kinds/definition.ts';

/** What the path of a resource request names. Empty strings where it names nothing. */
export interface Target {
  group: string;
  version: string;
  namespace: string;
  plural: string;
  name: string;
  subresource: string;
  /** What follows the subresource: nothing of ours has such paths. */
  rest: string[];
}

/**
 * Reads a path as the Kubernetes RequestInfo does: `/api/<version>/…` and `/apis/<group>/<version>/…` with at least
 * one more part name resources; everything else is undefined (a non-resource path). Rejects with BadRequest for
 * names that would step out of their place in the registry.
 */
export function parseTarget(path: string): Target | undefined {
  const parts = path.replace(/^\/+|\/+$/g, '').split('/');
  const core = parts[0] === 'api';
  if (!core && parts[0] !== 'apis') return undefined;
  const [group, version, ...inside] = core ? ['', ...parts.slice(1)] : parts.slice(1);
  if (group === undefined || version === undefined || inside.length === 0) return undefined;
  if (parts.includes('')) return undefined;
  const decoded = inside.map(decodePart);
  let namespace = '';
  let resource = decoded;
  if (decoded[0] === 'namespaces' && decoded[1] !== undefined) {
    namespace = decoded[1];
    const ofNamespace = decoded[2] === undefined || decoded[2] === 'status' || decoded[2] === 'finalize';
    if (!ofNamespace) resource = decoded.slice(2);
  }
  const [plural = '', name = '', subresource = '', ...rest] = resource;
  return { group, version, namespace, plural, name, subresource, rest };
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

/** The verb of the authorizer for a request to `target`. */
export function verbOf(method: string, target: Target, query: URLSearchParams): string {
  const one = target.name !== '';
  switch (method) {
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return one ? 'delete' : 'deletecollection';
    case 'GET':
    case 'HEAD':
      if (one) return 'get';
      return isTrue(query.get('watch')) ? 'watch' : 'list';
    default:
      return '';
  }
}

/** A list or watch narrowed to one metadata.name is judged as a request for that name. */
export function attributesOf(target: Target, verb: string, query: URLSearchParams): Attributes {
  const { group, version, plural, subresource, namespace } = target;
  const named = /^metadata\.name==?([^,=!]+)$/.exec(query.get('fieldSelector') ?? '')?.[1] ?? '';
  const name = target.name || (verb === 'list' || verb === 'watch' ? named : '');
  return { resource: true, verb, group, version, plural, subresource, namespace, name };
}

/** Query booleans as Go's conversion reads them: anything but absent, `0` and `false` is true. */
export function isTrue(value: string | null): boolean {
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}

/** Finds the definition a target means, or undefined where the path fits none. */
export function definitionFor(kinds: readonly KindDefinition[], target: Target): KindDefinition | undefined {
  const { group, version, plural, namespace, name } = target;
  const found = kinds.find(
    (kind) => kind.group === group && kind.version === version && kind.plural === plural,
  );
  if (!found || target.rest.length > 0) return undefined;
  if (found.scope === 'Cluster') {
    const isNamespaceItself = plural === 'namespaces' && namespace === name;
    return namespace === '' || isNamespaceItself ? found : undefined;
  }
  return namespace === '' && name !== '' ? undefined : found;
}
