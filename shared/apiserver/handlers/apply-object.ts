import { ArcError } from '#shared/errors';
import { isRecord } from '#shared/meta';
import { mustBeAllowed } from '../authorization/authorizer.ts';
import { parseBody } from '../codec/parse-body.ts';
import { badRequest } from '../errors/request-errors.ts';
import { conflict, notFound, qualified } from '../errors/resource-errors.ts';
import { type Applied, applyConfiguration } from '../fieldmanager/apply-configuration.ts';
import type { KubeObject } from '../kinds/definition.ts';
import { apiVersionOf } from '../kinds/verbs.ts';
import type { ResourceRequest } from '../request/api-request.ts';
import { readBody } from '../request/request-body.ts';
import { isTrue } from '../request/request-info.ts';
import { respondWritten } from '../response/respond.ts';
import { admitAndStore, withServerFields } from './create.ts';
import { fieldManagerOf } from './field-manager.ts';
import { cleanObject, enforceFieldValidation } from './object-input.ts';
import { writeObject } from './write-object.ts';

/** PATCH with a configuration to apply: changes the object, or creates it where there is none. */
export async function applyObject(request: ResourceRequest, dryRun: boolean): Promise<Response> {
  const { definition, query, info } = request;
  const config = await readConfiguration(request);
  const force = isTrue(query.get('force'));
  const apply = (live: KubeObject | undefined): Applied => {
    const { object, managedFields } = applyConfiguration(fieldManagerOf(request), live, config, force);
    return { object: cleanObject(request, object), managedFields };
  };
  let created = false;
  const written = await writeObject(request, {
    dryRun,
    change(old) {
      const { object, managedFields } = apply(old);
      const { resourceVersion = '' } = config.metadata;
      if (resourceVersion && resourceVersion !== old.metadata.resourceVersion)
        throw conflict(definition, info.name);
      return { object, owners: () => managedFields };
    },
    async absent() {
      const { object, managedFields } = await firstState(request, config, apply);
      const stored = await admitAndStore(request, object, dryRun, () => managedFields);
      created = stored !== undefined;
      return stored;
    },
  });
  return respondWritten(request, written, created ? 201 : 200);
}

/** The object as a first apply makes it; the right to create is needed beside the right to patch. */
async function firstState(
  request: ResourceRequest,
  config: KubeObject,
  apply: (live: undefined) => Applied,
): Promise<Applied> {
  const { definition, server, info, user } = request;
  if (info.subresource !== '') throw notFound(definition, info.name);
  await mustBeAllowed(server.authorize, user, { ...info, verb: 'create' });
  // A resourceVersion is a precondition on an object that is there, and none on one that is not, as in the reference.
  const { name, uid } = config.metadata;
  if (uid) throw noSuchObject(request, String(uid));
  const { object, managedFields } = apply(undefined);
  if (!name) {
    throw badRequest(
      `the name of the object (${info.name} based on URL) was undeterminable: name must be provided`,
    );
  }
  return { object: withServerFields(request, object, name), managedFields };
}

function noSuchObject({ definition, info }: ResourceRequest, uid: string): ArcError {
  const { group, plural } = definition;
  const message = `Operation cannot be fulfilled on ${qualified(plural, group)} "${info.name}": uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
  const details = { name: info.name, ...(group && { group }), kind: plural };
  return new ArcError('Conflict', message, { details });
}

/** The body, of the kind that the URL names; what the schema says of it is judged when it is applied. */
async function readConfiguration(request: ResourceRequest): Promise<KubeObject> {
  const { definition } = request;
  const { value, duplicates } = parseBody(await readBody(request), 'application/apply-patch+yaml');
  if (!isRecord(value)) throw badRequest('error decoding YAML: the body must hold an object');
  const { apiVersion = '', kind = '', metadata } = value;
  if (apiVersion !== apiVersionOf(definition) || kind !== definition.kind) {
    const version = String(apiVersion);
    const named = version.includes('/') ? version : `/${version}`;
    throw badRequest(`invalid object type: ${named}, Kind=${String(kind)}`);
  }
  if (metadata !== undefined && metadata !== null && !isRecord(metadata)) {
    throw badRequest('metadata must be an object');
  }
  const { managedFields, ...own } = metadata ?? {};
  if (managedFields !== undefined && managedFields !== null) {
    throw badRequest('metadata.managedFields must be nil');
  }
  enforceFieldValidation(request, duplicates, []);
  return { ...value, apiVersion, kind, metadata: own } as KubeObject;
}
