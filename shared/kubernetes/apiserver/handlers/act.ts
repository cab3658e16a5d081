import { isRecord } from '#shared/base/meta';
import { parseBody } from '../codec/parse-body.ts';
import { badRequest, unsupportedMediaType } from '../errors/api-errors.ts';
import { bodyType } from '../http/connection.ts';
import type { Action } from '../kinds/definition.ts';
import type { ResourceRequest } from '../request/api-request.ts';
import { readBody } from '../request/request-body.ts';
import { respondWritten } from '../response/respond.ts';
import { trackManagedFields } from './field-manager.ts';
import { checkManager, isDryRun } from './query-options.ts';
import { writeObject } from './write-object.ts';

const bodyTypes = ['', 'application/json', 'application/yaml'];

/** Serves POST to an action subresource: runs the action of the kind and responds with the changed object. Accepts no options. */
export async function actOnObject(request: ResourceRequest, action: Action): Promise<Response> {
  const dryRun = isDryRun(request.query, 'CreateOptions');
  checkManager(request.query, 'CreateOptions');
  await checkBody(request, action);
  const context = { user: request.user, now: request.server.now() };
  const written = await writeObject(request, {
    dryRun,
    change: (old) => ({
      object: action.act(old, context),
      managedFieldsOf: trackManagedFields(request, old, old.metadata.managedFields),
    }),
  });
  return respondWritten(request, written, 201);
}

async function checkBody(request: ResourceRequest, { name }: Action): Promise<void> {
  const type = bodyType(request.raw);
  if (!bodyTypes.includes(type)) throw unsupportedMediaType(bodyTypes.slice(1));
  const { value = {} } = await parseBody(await readBody(request), type);
  if (isRecord(value) && Object.keys(value).length === 0) return;
  throw badRequest(`${name} takes no options: send an empty body or {}`);
}
