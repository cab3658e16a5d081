import { ArcError } from '#shared/base/errors';
import { applyMergePatch, isRecord } from '#shared/base/meta';
import { conflict, invalidOf, uidPreconditionFailed } from '../errors/api-errors.ts';
import type { KubeObject } from '../kinds/definition.ts';
import { apiVersionOf } from '../kinds/served-kinds.ts';
import { applyPatch, isApply, type Patch, patchType, readPatch } from '../patch/patch.ts';
import { objectKey } from '../registry/keys.ts';
import { type ResourceRequest, yieldIfLarge } from '../request/api-request.ts';
import { respondWritten } from '../response/respond.ts';
import { checkFields } from '../validation/structural.ts';
import { applyObject } from './apply-object.ts';
import { trackManagedFields } from './field-manager.ts';
import { acceptObject, enforceFieldValidation, readObject } from './object-input.ts';
import { checkManager, isDryRun } from './query-options.ts';
import { writeObject } from './write-object.ts';

/** Serves PUT of an object or its status. */
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
        const key = objectKey(definition, request.namespace, info.name);
        throw uidPreconditionFailed(definition, info.name, key, uid, old.metadata.uid ?? '');
      }
      if (resourceVersion === '' && definition.group !== '') throw revisionRequired(request);
      return { object: body, managedFieldsOf: trackManagedFields(request, old, managedFields) };
    },
  });
  return respondWritten(request, written);
}

/** The error of an update without resourceVersion, which custom resources require and core kinds do not. */
function revisionRequired(request: ResourceRequest) {
  const message = 'Invalid value: 0: must be specified for an update';
  const field = 'metadata.resourceVersion';
  const { group, plural } = request.definition;
  return invalidOf(plural, group, request.info.name, [{ reason: 'FieldValueInvalid', message, field }]);
}

/** Serves PATCH of an object or its status. A resourceVersion in the patch is a precondition; otherwise conflicts are retried. */
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
      const object = statusPatched(request, patch, old) ?? (await patched(request, patch, old));
      const { resourceVersion = '', managedFields } = object.metadata;
      if (resourceVersion !== '' && resourceVersion !== old.metadata.resourceVersion)
        throw conflict(definition, info.name);
      return { object, managedFieldsOf: trackManagedFields(request, old, managedFields) };
    },
  });
  return respondWritten(request, written);
}

async function patched(request: ResourceRequest, patch: Patch, old: KubeObject): Promise<KubeObject> {
  const value = await applyPatch(patch, old, request.definition);
  await yieldIfLarge(request);
  return acceptPatched(request, value, () =>
    acceptObject(request, { value, duplicates: patch.duplicates }, old),
  );
}

/**
 * Fast path for merge patches of status only, with or without a resourceVersion, which are most writes: it skips checks of unchanged
 * fields. Returns undefined for every other patch.
 */
function statusPatched(request: ResourceRequest, patch: Patch, old: KubeObject): KubeObject | undefined {
  if (patch.type !== 'merge' || request.info.subresource !== 'status') return undefined;
  const { metadata = {}, status: change, ...others } = patch.changes;
  if (!isRecord(metadata) || change === undefined || Object.keys(others).length > 0) return undefined;
  const { resourceVersion = old.metadata.resourceVersion, ...more } = metadata;
  const isPrecondition = typeof resourceVersion === 'string' && /^[1-9]/.test(resourceVersion);
  if (!isPrecondition || Object.keys(more).length > 0) return undefined;
  const status = change === null ? undefined : applyMergePatch(old.status, change);
  const { pruned, unknown } = checkFields(request.definition, { status });
  const object = { ...old, metadata: { ...old.metadata, resourceVersion }, status: pruned.status };
  return acceptPatched(request, object, () => {
    enforceFieldValidation(request, patch.duplicates, unknown);
    return object;
  });
}

/**
 * Runs `accept` on the result of a patch. A result that cannot be decoded is an invalid patch (422 for field `patch`), while an
 * invalid body is a 400. The message omits the result, which may be long or secret.
 */
function acceptPatched(request: ResourceRequest, value: unknown, accept: () => KubeObject): KubeObject {
  checkRevision(request, value);
  checkVersion(request, value);
  try {
    return accept();
  } catch (caught) {
    const reason = decodingError(caught);
    if (reason === undefined) throw caught;
    const message = `Invalid value: "{…}": ${reason}`;
    throw invalidOf('', '', '', [{ reason: 'FieldValueInvalid', message, field: 'patch' }]);
  }
}

function decodingError(caught: unknown): string | undefined {
  if (!ArcError.is(caught, 'BadRequest')) return undefined;
  const decoding = /cannot be handled as a \w+: (.*)$/s.exec(caught.message)?.[1];
  return decoding ?? (caught.message.startsWith("Object 'Kind'") ? caught.message : undefined);
}

/** Rejects a patch that removes the resourceVersion: custom resources do not allow unconditional updates. */
function checkRevision(request: ResourceRequest, value: unknown): void {
  const metadata = isRecord(value) && isRecord(value.metadata) ? value.metadata : {};
  if (request.definition.group === '' || metadata.name !== request.info.name) return;
  if (!metadata.resourceVersion) throw revisionRequired(request);
}

function checkVersion(request: ResourceRequest, value: unknown): void {
  const { definition, info } = request;
  const expected = apiVersionOf(definition);
  const { apiVersion } = (value ?? {}) as { apiVersion?: unknown };
  if (typeof apiVersion !== 'string' || apiVersion === expected) return;
  const message = `Invalid value: ${JSON.stringify(apiVersion.slice(0, 100))}: must be ${expected}`;
  throw invalidOf(definition.kind, definition.group, info.name, [
    { reason: 'FieldValueInvalid', message, field: 'apiVersion' },
  ]);
}
