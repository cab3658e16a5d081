import { ArcError } from '#shared/base/errors';
import { applyMergePatch, isRecord } from '#shared/base/meta';
import { conflict, invalidOf, uidPreconditionFailed } from '../errors/api-errors.ts';
import type { KubeObject } from '../kinds/definition.ts';
import { apiVersionOf } from '../kinds/served-kinds.ts';
import { applyPatch, isApply, type Patch, patchType, readPatch } from '../patch/patch.ts';
import { objectKey } from '../registry/keys.ts';
import { betweenSteps, type ResourceRequest } from '../request/api-request.ts';
import { respondWritten } from '../response/respond.ts';
import { checkFields } from '../validation/structural.ts';
import { applyObject } from './apply-object.ts';
import { trackManagedFields } from './field-manager.ts';
import { acceptObject, enforceFieldValidation, readObject } from './object-input.ts';
import { checkManager, isDryRun } from './query-options.ts';
import { writeObject } from './write-object.ts';

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
        const key = objectKey(definition, request.namespace, info.name);
        throw uidPreconditionFailed(definition, info.name, key, uid, old.metadata.uid ?? '');
      }
      if (resourceVersion === '' && definition.group !== '') throw revisionRequired(request);
      return { object: body, managedFieldsOf: trackManagedFields(request, old, managedFields) };
    },
  });
  return respondWritten(request, written);
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
  await betweenSteps(request);
  return acceptPatched(request, value, () =>
    acceptObject(request, { value, duplicates: patch.duplicates }, old),
  );
}

/**
 * What a merge patch makes of an object that changes its status, guarded by a resourceVersion or not, and names nothing else: most writes
 * are this one, and need not look at what they leave alone. Undefined for every other patch.
 */
function statusPatched(request: ResourceRequest, patch: Patch, old: KubeObject): KubeObject | undefined {
  if (patch.type !== 'merge' || request.info.subresource !== 'status') return undefined;
  const { metadata = {}, status: change, ...others } = patch.changes;
  if (!isRecord(metadata) || change === undefined || Object.keys(others).length > 0) return undefined;
  const { resourceVersion = old.metadata.resourceVersion, ...more } = metadata;
  const isGuard = typeof resourceVersion === 'string' && /^[1-9]/.test(resourceVersion);
  if (!isGuard || Object.keys(more).length > 0) return undefined;
  const status = change === null ? undefined : applyMergePatch(old.status, change);
  const { pruned, unknown } = checkFields(request.definition, { status });
  const object = { ...old, metadata: { ...old.metadata, resourceVersion }, status: pruned.status };
  return acceptPatched(request, object, () => {
    enforceFieldValidation(request, patch.duplicates, unknown);
    return object;
  });
}

/**
 * As acceptObject, for the result of a patch. A result that is not an object of the kind is an error of the patch: 422 about
 * `patch`, where a body would cause a 400. The message does not repeat the result, which may be long or secret.
 */
function acceptPatched(request: ResourceRequest, value: unknown, accept: () => KubeObject): KubeObject {
  checkRevision(request, value);
  checkVersion(request, value);
  try {
    return accept();
  } catch (caught) {
    const why = decodingError(caught);
    if (why === undefined) throw caught;
    const message = `Invalid value: "{…}": ${why}`;
    throw invalidOf('', '', '', [{ reason: 'FieldValueInvalid', message, field: 'patch' }]);
  }
}

function decodingError(caught: unknown): string | undefined {
  if (!ArcError.is(caught, 'BadRequest')) return undefined;
  const decoding = /cannot be handled as a \w+: (.*)$/s.exec(caught.message)?.[1];
  return decoding ?? (caught.message.startsWith("Object 'Kind'") ? caught.message : undefined);
}

/** A patch that removes the resourceVersion asks for an unconditional update, which custom resources do not allow. */
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
