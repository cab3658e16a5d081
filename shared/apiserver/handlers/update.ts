import { invalidOf, modified, storedOtherwise } from '../errors/status.ts';
import { applyPatch, isApply, patchType, readPatch } from '../patch/patch.ts';
import { objectKey } from '../registry/stored-object.ts';
import type { Call } from '../request/call.ts';
import { respondWritten } from '../response/respond.ts';
import { applyObject } from './apply-object.ts';
import { updateOwners } from './field-manager.ts';
import { readObject } from './object-input.ts';
import { acceptPatched } from './patched-object.ts';
import { writeObject } from './write-object.ts';
import { checkManager, isDryRun } from './write-options.ts';

/** PUT of an object or of its status. */
export async function replaceObject(call: Call): Promise<Response> {
  const { definition, target } = call;
  const dryRun = isDryRun(call.query, 'UpdateOptions');
  checkManager(call.query, 'UpdateOptions');
  const body = await readObject(call);
  const { resourceVersion = '', uid, managedFields } = body.metadata;
  const written = await writeObject(call, {
    dryRun,
    change(old) {
      if (resourceVersion !== '' && resourceVersion !== old.metadata.resourceVersion)
        throw modified(definition, target.name);
      if (uid && uid !== old.metadata.uid) {
        throw otherUid(call, uid, old.metadata.uid ?? '');
      }
      if (resourceVersion === '' && definition.group !== '') throw revisionRequired(call);
      return { object: body, owners: updateOwners(call, old, managedFields) };
    },
  });
  return respondWritten(call, written);
}

function otherUid(call: Call, wanted: string, found: string) {
  const { definition, namespace, target } = call;
  const key = objectKey(definition, namespace, target.name);
  return storedOtherwise(definition, target.name, key, wanted, found);
}

/** Custom resources insist on a resourceVersion, the core kinds do not. */
function revisionRequired(call: Call) {
  const message = 'Invalid value: 0: must be specified for an update';
  const field = 'metadata.resourceVersion';
  const { group, plural } = call.definition;
  return invalidOf(plural, group, call.target.name, [{ reason: 'FieldValueInvalid', message, field }]);
}

/** PATCH of an object or of its status. A resourceVersion in the result is a precondition; without one, races are retried. */
export async function patchObject(call: Call): Promise<Response> {
  const { definition, request, target } = call;
  const type = patchType(request, definition);
  const dryRun = isDryRun(call.query, 'PatchOptions');
  checkManager(call.query, 'PatchOptions', isApply(type));
  if (isApply(type)) return applyObject(call, dryRun);
  const patch = await readPatch(request, definition);
  const written = await writeObject(call, {
    dryRun,
    change(old) {
      const value = applyPatch(patch, old, definition);
      const object = acceptPatched(call, { value, duplicates: patch.duplicates });
      const { resourceVersion = '', managedFields } = object.metadata;
      if (resourceVersion !== '' && resourceVersion !== old.metadata.resourceVersion)
        throw modified(definition, target.name);
      return { object, owners: updateOwners(call, old, managedFields) };
    },
  });
  return respondWritten(call, written);
}
