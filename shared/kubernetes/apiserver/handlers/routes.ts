import { ArcError } from '#shared/base/errors';
import type { User } from '../authentication/user/user.ts';
import { negotiate } from '../codec/negotiate.ts';
import { badRequest, notFound, qualified } from '../errors/api-errors.ts';
import { requestKindOf } from '../fairness/in-flight.ts';
import type { KindDefinition } from '../kinds/definition.ts';
import type { ApiRequest, ResourceRequest } from '../request/api-request.ts';
import { readBody } from '../request/request-body.ts';
import { definitionFor, pathName, type ResourceRequestInfo } from '../request/request-info.ts';
import { actOnObject } from './act.ts';
import { createObject } from './create.ts';
import { deleteCollection, deleteObject } from './delete.ts';
import { checkFieldValidation, checkTimeout } from './query-options.ts';
import { getObject, listObjects } from './read.ts';
import { getText } from './read-text.ts';
import { patchObject, replaceObject } from './update.ts';
import { watchObjects } from './watch.ts';

type Handler = (request: ResourceRequest) => Promise<Response>;

const collectionHandlers: Readonly<Record<string, Handler>> = {
  list: listObjects,
  watch: watchObjects,
  create: createObject,
  deletecollection: deleteCollection,
};

const objectHandlers: Readonly<Record<string, Handler>> = {
  get: getObject,
  update: replaceObject,
  patch: patchObject,
  delete: deleteObject,
};

const { delete: _delete, ...statusHandlers } = objectHandlers;

/** Calls the handler of an authorized request to a resource; undefined if no kind serves the path. */
export async function handleResource(
  request: ApiRequest,
  info: ResourceRequestInfo,
  user: User,
): Promise<Response | undefined> {
  const { raw, query } = request;
  const { verb } = info;
  const definition = definitionFor(request.server.kinds, info);
  if (!definition) return undefined;
  const name = pathName(info);
  const handlers = handlersFor(definition, name, info.subresource);
  if (!handlers) {
    if (definition.virtual || name === '') return undefined;
    throw notFound(definition, name);
  }
  // create and deletecollection of namespaced kinds require a namespace.
  const isAcrossNamespaces =
    definition.scope === 'Namespaced' && info.namespace === '' && !definition.virtual;
  if (isAcrossNamespaces && (verb === 'create' || verb === 'deletecollection')) return undefined;
  if (name === '' && !definition.virtual && (verb === 'update' || verb === 'patch'))
    throw badRequest('name must be provided');
  const handler = Object.hasOwn(handlers, verb) ? handlers[verb] : undefined;
  if (!handler) throw notAllowed(definition, verb);
  checkTimeout(query);
  checkFieldValidation(query, verb);
  const { headers } = raw;
  const format = negotiate(headers.get('accept'), headers.get('user-agent'), { stream: verb === 'watch' });
  const namespace = definition.scope === 'Namespaced' ? info.namespace : '';
  if (requestKindOf(verb) === 'mutating') {
    // Read the body first, so that a slow client does not occupy a slot.
    await readBody(request);
    await request.fairUse?.takeSlot();
  }
  return handler(Object.assign(request, { info, user, definition, namespace, format }));
}

function handlersFor(
  definition: KindDefinition,
  name: string,
  subresource: string,
): Readonly<Record<string, Handler>> | undefined {
  if (definition.virtual) return name === '' ? { create: createObject } : undefined;
  if (subresource === 'status') return definition.status ? statusHandlers : undefined;
  if (subresource !== '') {
    const action = definition.actions?.find((one) => one.name === subresource);
    if (action) return { create: (request) => actOnObject(request, action) };
    const text = definition.texts?.find((one) => one.name === subresource);
    return text && { get: (request) => getText(request, text) };
  }
  return name === '' ? collectionHandlers : objectHandlers;
}

function notAllowed(definition: KindDefinition, verb: string): ArcError {
  const { group, plural } = definition;
  const message = `${verb} is not supported on resources of kind "${qualified(plural, group)}"`;
  return new ArcError('MethodNotAllowed', message, { details: { ...(group && { group }), kind: plural } });
}
