import { invalidOf } from '../errors/request-errors.ts';
import { conflict, uidPreconditionFailed } from '../errors/resource-errors.ts';
import { applyPatch, isApply, patchType, readPatch } from '../patch/patch.ts';
import { objectKey } from '../registry/keys.ts';
import type { ResourceRequest } from '../request/api-request.ts';
import { betweenSteps } from '../request/long-steps.ts';
import { respondWritten } from '../response/respond.ts';
import { applyObject } from './apply-object.ts';
import { trackManagedFields } from './field-manager.ts';
import { readObject } from './object-input.ts';
import { acceptPatched } from './patched-object.ts';
import { writeObject } from './write-object.ts';
import { checkManager, isDryRun } from './write-options.ts';

/** PUT of an object or of its status. */
export async function replaceObject(request: ResourceRequest): Promise<Response> {
  const { definition, info } = request;
  const dryRun = isDryRun(request.query, 'UpdateOptions');
  checkManager(request.query, 'UpdateOptions');
  const body = await readObject(request);
  const { resourceVersion = '', uid, managedFields } = body.metadata;
  const written = await writeObject(request, {
    dryRun,
    change(old) {
      if (resourceVersion !== '' && resourceVersion !== old.metadata.resourceVersion)
        throw conflict(definition, info.name);
      if (uid && uid !== old.metadata.uid) {
        throw uidMismatch(request, uid, old.metadata.uid ?? '');
      }
      if (resourceVersion === '' && definition.group !== '') throw revisionRequired(request);
      return { object: body, managedFieldsOf: trackManagedFields(request, old, managedFields) };
    },
  });
  return respondWritten(request, written);
}

function uidMismatch(request: ResourceRequest, wanted: string, found: string) {
  const { definition, namespace, info } = request;
  const key = objectKey(definition, namespace, info.name);
  return uidPreconditionFailed(definition, info.name, key, wanted, found);
}

/** Custom resources require a resourceVersion, the core kinds do not. */
function revisionRequired(request: ResourceRequest) {
  const message = 'Invalid value: 0: must be specified for an update';
  const field = 'metadata.resourceVersion';
  const { group, plural } = request.definition;
  return invalidOf(plural, group, request.info.name, [{ reason: 'FieldValueInvalid', message, field }]);
}

/** PATCH of an object or of its status. A resourceVersion in the result is a precondition; without one, conflicts are retried. */
export async function patchObject(request: ResourceRequest): Promise<Response> {
  const { definition, info } = request;
  const type = patchType(request.raw, definition);
  const dryRun = isDryRun(request.query, 'PatchOptions');
  checkManager(request.query, 'PatchOptions', isApply(type));
  if (isApply(type)) return applyObject(request, dryRun);
  const patch = await readPatch(request, definition);
  const written = await writeObject(request, {
    dryRun,
    async change(old) {
      const value = await applyPatch(patch, old, definition);
      await betweenSteps(request);
      const object = acceptPatched(request, { value, duplicates: patch.duplicates });
      const { resourceVersion = '', managedFields } = object.metadata;
      if (resourceVersion !== '' && resourceVersion !== old.metadata.resourceVersion)
        throw conflict(definition, info.name);
      return { object, managedFieldsOf: trackManagedFields(request, old, managedFields) };
    },
  });
  return respondWritten(request, written);
}
