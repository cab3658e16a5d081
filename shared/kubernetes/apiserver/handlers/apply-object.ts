import { ArcError } from '#shared/base/errors';
import { isRecord } from '#shared/base/meta';
import { mustBeAllowed } from '../authorization/authorizer.ts';
import { parseBody } from '../codec/parse-body.ts';
import { badRequest, conflict, notFound, qualified } from '../errors/api-errors.ts';
import { type Applied, applyConfiguration } from '../fieldmanager/apply-configuration.ts';
import type { KubeObject } from '../kinds/definition.ts';
import { apiVersionOf } from '../kinds/served-kinds.ts';
import { type ResourceRequest, yieldIfLarge } from '../request/api-request.ts';
import { readBody } from '../request/request-body.ts';
import { isTrue } from '../request/request-info.ts';
import { respondWritten } from '../response/respond.ts';
import { admitAndStore, withServerFields } from './create.ts';
import { fieldManagerOf } from './field-manager.ts';
import { cleanObject, enforceFieldValidation } from './object-input.ts';
import { writeObject } from './write-object.ts';

type Apply = (live: KubeObject | undefined) => Promise<Applied>;

/** Serves server-side apply: updates the object, or creates it if it does not exist. */
export async function applyObject(request: ResourceRequest, dryRun: boolean): Promise<Response> {
  const { definition, query, info } = request;
  const config = await readConfiguration(request);
  const force = isTrue(query.get('force'));
  const apply: Apply = async (live) => {
    const steps = applyConfiguration(fieldManagerOf(request), live, config, force);
    let step = steps.next();
    while (!step.done) {
      await yieldIfLarge(request);
      step = steps.next();
    }
    await yieldIfLarge(request);
    const { object, managedFields } = step.value;
    return { object: cleanObject(request, object), managedFields };
  };
  let created = false;
  const written = await writeObject(request, {
    dryRun,
    async change(old) {
      const { object, managedFields } = await apply(old);
      const { resourceVersion = '' } = config.metadata;
      if (resourceVersion && resourceVersion !== old.metadata.resourceVersion)
        throw conflict(definition, info.name);
      return { object, managedFieldsOf: () => managedFields };
    },
    async createIfAbsent() {
      const { object, managedFields } = await newObject(request, config, apply);
      const stored = await admitAndStore(request, object, dryRun, () => managedFields);
      created = stored !== undefined;
      return stored;
    },
  });
  return respondWritten(request, written, created ? 201 : 200);
}

/** Returns the object that an apply creates. Requires permission to create in addition to patch. */
async function newObject(request: ResourceRequest, config: KubeObject, apply: Apply): Promise<Applied> {
  const { definition, server, info, user } = request;
  if (info.subresource !== '') throw notFound(definition, info.name);
  await mustBeAllowed(server.authorize, user, { ...info, verb: 'create' });
  // As in Kubernetes, resourceVersion is a precondition only for an existing object.
  const { name, uid } = config.metadata;
  if (uid) throw uidMismatch(request, String(uid));
  const { object, managedFields } = await apply(undefined);
  if (!name) {
    throw badRequest(
      `the name of the object (${info.name} based on URL) was undeterminable: name must be provided`,
    );
  }
  return { object: withServerFields(request, object, name), managedFields };
}

function uidMismatch({ definition, info }: ResourceRequest, uid: string): ArcError {
  const { group, plural } = definition;
  const message = `Operation cannot be fulfilled on ${qualified(plural, group)} "${info.name}": uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
  const details = { name: info.name, ...(group && { group }), kind: plural };
  return new ArcError('Conflict', message, { details });
}

/** Reads the applied configuration and checks its apiVersion and kind. applyConfiguration validates it against the schema. */
async function readConfiguration(request: ResourceRequest): Promise<KubeObject> {
  const { definition } = request;
  const { value, duplicates } = await parseBody(await readBody(request), 'application/apply-patch+yaml');
  if (!isRecord(value)) throw badRequest('error decoding YAML: the body must be an object');
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
