import { ArcError } from '#shared/errors';
import type { User } from '../authentication/user.ts';
import { negotiate } from '../codec/negotiate.ts';
import { badRequest, notFound, qualified } from '../errors/status.ts';
import type { KindDefinition } from '../kinds/definition.ts';
import type { Call, Server } from '../request/call.ts';
import { definitionFor, type Target } from '../request/request-info.ts';
import { checkFieldValidation, checkTimeout } from '../request/request-options.ts';
import { createObject } from './create.ts';
import { deleteCollection, deleteObject } from './delete.ts';
import { getObject, listObjects } from './read.ts';
import { patchObject, replaceObject } from './update.ts';
import { watchObjects } from './watch.ts';

type Handler = (call: Call) => Promise<Response>;

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

const statusHandlers: Readonly<Record<string, Handler>> = {
  get: getObject,
  update: replaceObject,
  patch: patchObject,
};

/** Answers an authorized request to a resource; undefined where no kind serves the path. */
export async function handleResource(
  server: Server,
  request: Request,
  url: URL,
  user: User,
  target: Target,
  verb: string,
  warnings: string[],
): Promise<Response | undefined> {
  const definition = definitionFor(server.kinds, target);
  const handlers = definition && handlersFor(definition, target);
  if (!definition || target.rest.length > 0) return undefined;
  if (!handlers) {
    if (definition.virtual || target.name === '') return undefined;
    throw notFound(definition, target.name);
  }
  // What belongs to a namespace is made in one, and deleted in one at a time.
  const everywhere = definition.scope === 'Namespaced' && target.namespace === '' && !definition.virtual;
  if (everywhere && (verb === 'create' || verb === 'deletecollection')) return undefined;
  if (target.name === '' && !definition.virtual && (verb === 'update' || verb === 'patch'))
    throw badRequest('name must be provided');
  const handler = Object.hasOwn(handlers, verb) ? handlers[verb] : undefined;
  if (!handler) throw notAllowed(definition, verb);
  checkTimeout(url.searchParams);
  checkFieldValidation(url.searchParams, verb);
  const { headers } = request;
  const format = negotiate(headers.get('accept'), headers.get('user-agent'), { stream: verb === 'watch' });
  const namespace = definition.scope === 'Namespaced' ? target.namespace : '';
  return handler({
    server,
    request,
    query: url.searchParams,
    user,
    definition,
    target,
    namespace,
    format,
    warnings,
  });
}

function handlersFor(
  definition: KindDefinition,
  target: Target,
): Readonly<Record<string, Handler>> | undefined {
  if (definition.virtual) return target.name === '' ? { create: createObject } : undefined;
  if (target.subresource === 'status') return definition.status ? statusHandlers : undefined;
  if (target.subresource !== '') return undefined;
  return target.name === '' ? collectionHandlers : objectHandlers;
}

function notAllowed(definition: KindDefinition, verb: string): ArcError {
  const { group, plural } = definition;
  const message = `${verb} is not supported on resources of kind "${qualified(plural, group)}"`;
  return new ArcError('MethodNotAllowed', message, { details: { ...(group && { group }), kind: plural } });
}
